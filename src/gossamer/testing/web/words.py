"""The words the simulated web is written in: real ones, so that titles and sentences are worth searching.

Every word can be written in every charset its language is served in; a test holds that.
"""

from __future__ import annotations

from typing import NamedTuple


class Language(NamedTuple):
    """How a language is written: content words, the small words between them, and what joins and ends them."""

    code: str
    charsets: tuple[str, ...]  # as declared in HTTP; the first is UTF-8
    words: tuple[str, ...]
    glue: tuple[str, ...]
    joint: str  # between words
    comma: str
    stop: str


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split()))


def _language(code: str, charsets: str, words: str, glue: str, joint: str, comma: str, stop: str) -> Language:
    return Language(
        code, tuple(charsets.split()), tuple(dict.fromkeys(words.split())), tuple(glue.split()), joint, comma, stop
    )


ENGLISH = _language(
    "en",
    "utf-8 iso-8859-1",
    """
    harbour lantern copper valley river stone meadow winter garden market bridge engine letter island forest mirror
    silver candle thunder village orchard journey captain window feather mountain kitchen library station compass
    railway sailor painter carpenter weaver shepherd teacher doctor farmer merchant soldier printer builder gardener
    apple barley cherry ginger honey pepper walnut almond saffron cinnamon lemon olive pumpkin potato cabbage bread
    cheese butter coffee sugar salt water iron marble timber leather cotton linen velvet paper glass clay amber
    falcon sparrow heron badger otter salmon spider beetle horse donkey camel rabbit squirrel tortoise dolphin whale
    autumn spring summer morning evening midnight weather history science music theatre poetry language grammar
    question answer promise memory silence shadow colour number pattern circle square distance measure balance
    ancient bright careful distant early famous gentle hidden honest narrow northern open patient quiet rapid
    remote simple slender southern steady strange sudden tender useful western wild yellow golden crimson hollow
    builds carries crosses discovers explains follows gathers guards keeps leaves makes measures opens paints
    reaches reads remembers repairs returns sells sings teaches travels turns visits waits walks watches writes
    archive ballad cathedral diary easel festival glacier hedge inventor junction kettle ladder museum notebook
    observatory parliament quarry reservoir satellite telescope university vineyard workshop thread loom web silk
    """,
    "the of and in to a with for from by on at near under over between through after before without about every",
    " ",
    ", ",
    ". ",
)

GERMAN = _language(
    "de",
    "utf-8 iso-8859-1",
    """
    Hafen Laterne Kupfer Tal Fluss Stein Wiese Winter Garten Markt Brücke Maschine Brief Insel Wald Spiegel Silber
    Kerze Donner Dorf Obstgarten Reise Kapitän Fenster Feder Gebirge Küche Bibliothek Bahnhof Kompass Eisenbahn
    Seemann Maler Tischler Weber Schäfer Lehrer Arzt Bauer Händler Soldat Drucker Gärtner Apfel Gerste Kirsche
    Ingwer Honig Pfeffer Walnuss Mandel Zitrone Olive Kürbis Kartoffel Kohl Brot Käse Butter Kaffee Zucker Salz
    Wasser Eisen Marmor Holz Leder Baumwolle Leinen Papier Glas Ton Bernstein Falke Spatz Reiher Dachs Otter Lachs
    Spinne Käfer Pferd Esel Kamel Hase Schildkröte Herbst Frühling Sommer Morgen Abend Mitternacht Wetter
    Geschichte Wissenschaft Musik Theater Dichtung Sprache Frage Antwort Versprechen Erinnerung Stille Schatten
    Farbe Zahl Muster Kreis Entfernung Gleichgewicht alt hell sorgfältig fern früh berühmt sanft verborgen ehrlich
    schmal nördlich offen geduldig ruhig schnell einfach schlank südlich stetig seltsam plötzlich zart nützlich
    westlich wild gelb golden hohl baut trägt überquert entdeckt erklärt folgt sammelt bewacht behält verlässt
    macht misst öffnet malt erreicht liest repariert verkauft singt lehrt reist besucht wartet wandert schreibt
    Archiv Ballade Dom Tagebuch Fest Gletscher Hecke Erfinder Kreuzung Kessel Leiter Museum Heft Sternwarte
    Parlament Steinbruch Stausee Satellit Fernrohr Universität Weinberg Werkstatt Faden Webstuhl Netz Seide
    """,
    "der die das und in zu mit für von bei auf an nahe unter über zwischen durch nach vor ohne ein eine ist nicht",
    " ",
    ", ",
    ". ",
)

FRENCH = _language(
    "fr",
    "utf-8 iso-8859-1",
    """
    port lanterne cuivre vallée rivière pierre prairie hiver jardin marché pont moteur lettre île forêt miroir
    argent bougie tonnerre village verger voyage capitaine fenêtre plume montagne cuisine bibliothèque gare boussole
    chemin marin peintre charpentier tisserand berger professeur médecin fermier marchand soldat imprimeur jardinier
    pomme orge cerise gingembre miel poivre noix amande safran cannelle citron olive citrouille chou pain fromage
    beurre café sucre sel eau fer marbre bois cuir coton lin velours papier verre argile ambre faucon moineau héron
    blaireau loutre saumon araignée cheval âne chameau lapin tortue dauphin baleine automne printemps été matin soir
    minuit histoire science musique théâtre poésie langue grammaire question réponse promesse mémoire silence ombre
    couleur nombre motif cercle carré distance mesure équilibre ancien clair soigneux lointain célèbre doux caché
    honnête étroit ouvert patient calme rapide simple mince étrange soudain tendre utile sauvage jaune doré creux
    construit porte traverse découvre explique suit rassemble garde quitte mesure ouvre peint atteint lit répare
    revient vend chante enseigne voyage tourne visite attend marche regarde écrit archive ballade cathédrale journal
    festival glacier haie inventeur carrefour bouilloire échelle musée cahier observatoire parlement carrière
    réservoir satellite télescope université vignoble atelier fil métier toile soie
    """,
    "le la les de du des et en un une avec pour par sur dans sous entre après avant sans est que qui ne pas au",
    " ",
    ", ",
    ". ",
)

SPANISH = _language(
    "es",
    "utf-8 iso-8859-1",
    """
    puerto farol cobre valle río piedra pradera invierno jardín mercado puente motor carta isla bosque espejo plata
    vela trueno aldea huerto viaje capitán ventana pluma montaña cocina biblioteca estación brújula ferrocarril
    marinero pintor carpintero tejedor pastor maestro médico granjero comerciante soldado impresor jardinero manzana
    cebada cereza jengibre miel pimienta nuez almendra azafrán canela limón aceituna calabaza repollo pan queso
    mantequilla café azúcar sal agua hierro mármol madera cuero algodón lino terciopelo papel vidrio arcilla ámbar
    halcón gorrión garza tejón nutria salmón araña escarabajo caballo burro camello conejo tortuga delfín ballena
    otoño primavera verano mañana tarde medianoche tiempo historia ciencia música teatro poesía lengua gramática
    pregunta respuesta promesa memoria silencio sombra color número patrón círculo cuadrado distancia medida
    equilibrio antiguo claro cuidadoso lejano famoso suave oculto honesto estrecho abierto paciente tranquilo rápido
    sencillo delgado extraño repentino tierno útil salvaje amarillo dorado hueco construye lleva cruza descubre
    explica sigue reúne guarda deja mide abre pinta alcanza lee recuerda repara vuelve vende canta enseña viaja gira
    visita espera camina mira escribe archivo balada catedral diario festival glaciar inventor cruce tetera escalera
    museo cuaderno observatorio parlamento cantera embalse satélite telescopio universidad viñedo taller hilo telar
    """,
    "el la los las de y en un una con para por sobre bajo entre tras antes sin es que no se del al como más",
    " ",
    ", ",
    ". ",
)

RUSSIAN = _language(
    "ru",
    "utf-8 windows-1251 koi8-r",
    """
    гавань фонарь медь долина река камень луг зима сад рынок мост двигатель письмо остров лес зеркало серебро свеча
    гром деревня путешествие капитан окно перо гора кухня библиотека станция компас дорога моряк художник плотник
    ткач пастух учитель врач фермер купец солдат печатник строитель садовник яблоко ячмень вишня имбирь мёд перец
    орех миндаль корица лимон тыква картофель капуста хлеб сыр масло кофе сахар соль вода железо мрамор дерево кожа
    хлопок лён бархат бумага стекло глина янтарь сокол воробей цапля барсук выдра лосось паук жук лошадь осёл верблюд
    кролик белка черепаха дельфин кит осень весна лето утро вечер полночь погода история наука музыка театр поэзия
    язык грамматика вопрос ответ обещание память тишина тень цвет число узор круг квадрат расстояние мера равновесие
    древний яркий далёкий ранний известный нежный скрытый честный узкий северный открытый терпеливый тихий быстрый
    простой стройный южный странный внезапный полезный западный дикий жёлтый золотой строит несёт пересекает
    открывает объясняет следует собирает хранит оставляет делает измеряет рисует достигает читает помнит чинит
    возвращает продаёт поёт учит посещает ждёт идёт смотрит пишет архив баллада собор дневник праздник ледник
    изобретатель перекрёсток чайник лестница музей тетрадь обсерватория парламент карьер спутник телескоп университет
    виноградник мастерская нить станок паутина шёлк
    """,
    "и в на с по для от из к у за под над между через после перед без о не что как это его она они был",
    " ",
    ", ",
    ". ",
)

JAPANESE = _language(
    "ja",
    "utf-8 shift_jis euc-jp iso-2022-jp",
    """
    港 灯台 銅 谷 川 石 草原 冬 庭園 市場 橋 機関 手紙 島 森林 鏡 銀 ろうそく 雷 村 果樹園 旅行 船長 窓 羽 山 台所
    図書館 駅 羅針盤 鉄道 船乗り 画家 大工 織物 羊飼い 先生 医者 農家 商人 兵士 印刷 建築 園芸 りんご 大麦 桜 生姜
    蜂蜜 胡椒 胡桃 檸檬 南瓜 馬鈴薯 パン チーズ バター コーヒー 砂糖 塩 水 鉄 大理石 木材 革 綿 絹 紙 硝子 粘土 琥珀
    鷹 雀 鷺 狸 鮭 蜘蛛 甲虫 馬 駱駝 兎 栗鼠 亀 海豚 鯨 秋 春 夏 朝 夕方 真夜中 天気 歴史 科学 音楽 劇場 詩 言語
    文法 質問 答え 約束 記憶 沈黙 影 色 数字 模様 円 四角 距離 測定 均衡 古い 明るい 遠い 早い 有名な 優しい 静かな
    正直な 狭い 北の 開いた 速い 簡単な 細い 南の 不思議な 突然の 便利な 西の 野生の 黄色い 金色の 建てる 運ぶ 渡る
    発見する 説明する 集める 守る 残す 作る 測る 開く 描く 届く 読む 思い出す 修理する 帰る 売る 歌う 教える 訪れる
    待つ 歩く 見る 書く 記録 大聖堂 日記 祭り 氷河 発明家 交差点 やかん 梯子 博物館 ノート 天文台 国会 採石場 貯水池
    衛星 望遠鏡 大学 葡萄畑 工房 糸 織機 検索 東京 京都 大阪 北海道 新聞 電車 地図 季節 物語 世界 時間 人間 自然
    文化 経済 社会 情報 技術 研究 学校 仕事 家族 友人 料理
    """,
    "の は を が に と で も から まで より へ や など について として",
    "",
    "、",
    "です。",
)

CHINESE = _language(
    "zh",
    "utf-8 gbk big5",
    """
    港口 灯笼 铜 山谷 河流 石头 草地 冬天 花园 市场 桥梁 机器 书信 岛屿 森林 镜子 白银 蜡烛 雷声 村庄 果园 旅行 船长
    窗户 羽毛 山脉 厨房 图书馆 车站 指南针 铁路 水手 画家 木匠 织工 牧人 老师 医生 农民 商人 士兵 印刷 建筑 园丁
    苹果 大麦 樱桃 生姜 蜂蜜 胡椒 核桃 杏仁 柠檬 橄榄 南瓜 土豆 白菜 面包 奶酪 黄油 咖啡 糖 盐 水 铁 大理石 木材
    皮革 棉花 亚麻 丝绸 纸 玻璃 黏土 琥珀 猎鹰 麻雀 白鹭 水獭 鲑鱼 蜘蛛 甲虫 马 骆驼 兔子 松鼠 乌龟 海豚 鲸鱼 秋天
    春天 夏天 早晨 傍晚 午夜 天气 历史 科学 音乐 剧院 诗歌 语言 语法 问题 答案 承诺 记忆 沉默 影子 颜色 数字 图案
    圆形 距离 测量 平衡 古老 明亮 仔细 遥远 著名 温柔 隐藏 诚实 狭窄 北方 开放 耐心 安静 迅速 简单 南方 稳定 奇怪
    突然 有用 西方 野生 黄色 金色 建造 携带 穿过 发现 解释 跟随 收集 守护 离开 制作 打开 绘画 到达 阅读 记得 修理
    回来 出售 唱歌 教书 参观 等待 行走 观看 写作 档案 民谣 教堂 日记 节日 冰川 发明家 路口 水壶 梯子 博物馆 笔记
    天文台 议会 采石场 水库 卫星 望远镜 大学 葡萄园 工作室 线 织布机 网络 搜索 北京 上海 报纸 地图 季节 故事 世界
    时间 自然 文化 经济 社会
    """,
    "的 和 在 是 有 也 不 与 从 到 对 为 都 就 这 那 很 被",
    "",
    "，",
    "。",
)

THAI = _language(
    "th",
    "utf-8 tis-620 windows-874",
    """
    ท่าเรือ โคมไฟ ทองแดง หุบเขา แม่น้ำ หิน ทุ่งหญ้า ฤดูหนาว สวน ตลาด สะพาน เครื่องจักร จดหมาย เกาะ ป่า กระจก เงิน
    เทียน ฟ้าร้อง หมู่บ้าน การเดินทาง กัปตัน หน้าต่าง ขนนก ภูเขา ครัว ห้องสมุด สถานี เข็มทิศ รถไฟ กะลาสี จิตรกร
    ช่างไม้ ช่างทอ ครู หมอ ชาวนา พ่อค้า ทหาร ช่างพิมพ์ คนสวน แอปเปิล ข้าว มะม่วง ขิง น้ำผึ้ง พริกไทย มะนาว ฟักทอง
    มันฝรั่ง กะหล่ำปลี ขนมปัง ชีส เนย กาแฟ น้ำตาล เกลือ น้ำ เหล็ก หินอ่อน ไม้ หนัง ฝ้าย ลินิน กระดาษ แก้ว ดินเหนียว
    อำพัน เหยี่ยว นกกระจอก นกยาง นาก ปลา แมงมุม ด้วง ม้า ลา อูฐ กระต่าย กระรอก เต่า โลมา วาฬ ช้าง เสือ ฤดูร้อน ฤดูฝน
    เช้า เย็น เที่ยงคืน อากาศ ประวัติศาสตร์ วิทยาศาสตร์ ดนตรี โรงละคร บทกวี ภาษา ไวยากรณ์ คำถาม คำตอบ สัญญา
    ความทรงจำ ความเงียบ เงา สี ตัวเลข ลวดลาย วงกลม ระยะทาง สมดุล โบราณ สว่าง ไกล มีชื่อเสียง อ่อนโยน ซ่อน ซื่อสัตย์
    แคบ เหนือ เปิด อดทน เงียบ เร็ว ง่าย ใต้ แปลก ทันที มีประโยชน์ ตะวันตก ป่าเถื่อน เหลือง ทอง สร้าง ถือ ข้าม ค้นพบ
    อธิบาย ตาม รวบรวม รักษา ทำ วัด วาด ถึง อ่าน จำ ซ่อม กลับ ขาย ร้องเพลง สอน เยี่ยม รอ เดิน ดู เขียน หอจดหมายเหตุ
    วิหาร บันทึก เทศกาล ธารน้ำแข็ง นักประดิษฐ์ ทางแยก กาน้ำ บันได พิพิธภัณฑ์ สมุด หอดูดาว รัฐสภา เหมือง อ่างเก็บน้ำ
    ดาวเทียม กล้อง มหาวิทยาลัย ไร่องุ่น โรงงาน ด้าย กี่ทอผ้า กรุงเทพ เชียงใหม่ ทะเล ครอบครัว เพื่อน โลก เวลา
    ธรรมชาติ วัฒนธรรม เศรษฐกิจ สังคม ข้อมูล โรงเรียน ไหม
    """,
    "และ ของ ที่ ใน เป็น มี ไม่ กับ จาก ได้ ให้ ว่า แต่ หรือ ก็ จะ",
    "",
    " ",
    " ",
)

LANGUAGES: dict[str, Language] = {
    language.code: language for language in (ENGLISH, GERMAN, FRENCH, SPANISH, RUSSIAN, JAPANESE, CHINESE, THAI)
}

# Big5 has only traditional characters; these are the simplified ones used above.
TRADITIONAL = str.maketrans(
    "丝为乌乐书亚从会写农剧医单卫历厨参发园图圆场声壶头学实对屿岛师带库开忆户护报携数时来柠档桥榄樱测济温灯烛狭猎獭现画盐稳笔笼简"
    "纸线细织经绘络绸脉节观议记诗诚语诺读谣车达过这远遥释针铁铜银镜长问间阅随隐静题颜馆马驼骆鱼鲑鲸鹭鹰麦黄龟",
    "絲為烏樂書亞從會寫農劇醫單衛歷廚參發園圖圓場聲壺頭學實對嶼島師帶庫開憶戶護報攜數時來檸檔橋欖櫻測濟溫燈燭狹獵獺現畫鹽穩筆籠簡"
    "紙線細織經繪絡綢脈節觀議記詩誠語諾讀謠車達過這遠遙釋針鐵銅銀鏡長問間閱隨隱靜題顏館馬駝駱魚鮭鯨鷺鷹麥黃龜",
)

# Names of hosts and paths: plain ASCII in every language, as most of the web's are.
ADJECTIVES = _split(
    "amber quiet copper silver golden hidden narrow bright gentle wild early open steady crimson hollow northern "
    "southern distant patient rapid simple slender tender yellow ancient honest famous useful strange sudden blue green"
)
NOUNS = _split(
    "field harbour lantern valley river stone meadow garden market bridge engine letter island forest mirror candle "
    "thunder village orchard journey captain window feather mountain kitchen library station compass railway falcon "
    "heron loom"
)
SECTIONS = _split("news guide notes travel food craft music science garden history people places letters tools sea sky")
