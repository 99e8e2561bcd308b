"""Stop words: function words of the languages of most pages, and words of the web itself."""

from __future__ import annotations

from functools import cache
from typing import Final

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from gossamer.index.letters import folded, level

_BUILT_IN: Final = (
    "danish", "dutch", "english", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese",
    "russian", "spanish", "swedish",
)  # fmt: skip
"""Languages of which tantivy has lists. They are short: those below add to them."""

_WEB: Final = (
    "html http https www index page pages home site website menu search login welcome untitled document click here"
)
_WORDS: Final[dict[str, str]] = {
    "en": """
        about above across after again against along already also although always among another around away because
        become been before behind being below beneath beside between beyond both cannot come could despite does
        doing done down during each either else enough even ever every except find first following found from
        further gets give given gives goes going have having hence here herself himself however inside instead into
        itself just know last later least less like likely made main make makes making many maybe more most much
        must myself near nearly need neither never next none nothing often once only onto other others ours outside
        over part perhaps please quite rather really said same second seem several shall should since some something
        still such take takes than that their them themselves then there therefore these they thing things this
        those though through thus today together toward towards under unless unlike until upon used uses using
        usually very well went were what when where whether which while whole whom whose will with within without
        would your yours yourself
    """,
    "de": """
        aber allem allen aller alles alle also andere anderen anderer auch auf außer beide beim bereits besonders
        bevor bisher dabei dadurch dafür dagegen daher damit danach daneben dann daran darauf daraus darf darin
        darüber darum dass davon davor dazu dein deine deinen denen denn dennoch deren dessen deshalb dies diese
        diesem diesen dieser dieses doch dort durch ebenso eine einem einen einer eines einige einigen einmal etwa
        etwas euch falls fast ganz gegen gibt habe haben hatte hatten hier hinter ihnen ihre ihrem ihren ihrer immer
        indem innerhalb jede jedem jeden jeder jedes jedoch jene jetzt kann kein keine keinem keinen keiner können
        könnte lassen machen manche mehr mein meine meist mindestens mittels müssen nach nachdem nächste nahe neben
        nicht nichts noch nur oben oder ohne schon sehr seit seite sein seine seinem seinen seiner selbst sich sind
        sobald sogar solche soll sollte sondern sonst sowie später statt trotz über unser unsere unten unter viel
        viele vielen vielleicht vor vorher während wann warum weil weiter weitere welche welchem welchen welcher
        welches wenig wenige wenn werden wieder wird wohl wollen worden wurde wurden würde zudem zuerst zurück
        zusammen zwar zwischen
    """,
    "fr": """
        ailleurs ainsi alors après assez aucun aucune aujourd auquel autant autour autre autres aussi avant avec
        avoir beaucoup bien cela celle celles celui certains cette ceux chaque chez comme comment contre dans
        davantage dedans dehors déjà depuis derrière dessous dessus deux devant doit donc dont durant elle elles
        encore enfin ensuite entre envers étaient était être faire fait faut fois font hors jamais jusque laquelle
        lequel lesquelles lesquels leur leurs loin lors lorsque maintenant mais malgré même mêmes mieux moins
        notamment notre nous nouveau nouvelle nouvelles outre parce parfois parmi partout pendant peut peuvent
        plupart plus plusieurs plutôt pour pourquoi pourtant près presque puis puisque quand quant quel quelle
        quelles quelque quelques quels quoi rien sans sauf selon sera seront seulement sinon soient soit sont sous
        souvent suis suivant surtout tandis tant telle telles tels tous tout toute toutes toujours très trop vers
        voici voilà votre vous vraiment
    """,
    "es": """
        además ahora algo alguien alguna algunas alguno algunos ante antes apenas aquel aquella aquí así aunque bajo
        bien cada casi cerca como contra cual cuales cualquier cuando cuanto debajo debe deben delante dentro desde
        después detrás donde durante ella ellas ellos embargo encima entonces entre eran esas esos esta está estaba
        están estar estas este esto estos excepto frente fueron fuera gran había hace hacer hacia hasta incluso
        junto lejos luego mayor mediante mejor menos mientras misma mismo mucha muchas mucho muchos nada nadie
        ninguna ninguno nosotros nuestra nuestro nueva nuevo nunca otra otras otro otros para parte pero poco pocos
        porque primera primero pueden puede pues quien quienes quizás salvo según sería sido siempre siendo sino
        sobre solo suele también tampoco tanto tiene tienen toda todas todavía todo todos tras través unas unos
        usted ustedes varias varios veces
    """,
    "it": """
        adesso allora altra altre altri altro anche ancora anzi appena attraverso avanti avere bene ciascuno circa
        come comunque contro così dalla dalle dallo degli della delle dello dentro dietro dopo dove dunque durante
        ecco eccetto entrambi essa essere esso fare fino forse fuori hanno infatti inoltre insieme invece lontano
        loro lungo malgrado mediante meglio meno mentre molta molte molti molto negli nella nelle nello nemmeno
        nessuno niente nostra nostro nulla nuova nuovo ogni ognuno oltre oppure parte perché però piuttosto poca
        pochi poco possono presso prima proprio qualche qualcosa quale quali quando quanto quasi quella quelle
        quelli quello questa queste questi questo quindi sarà secondo sempre senza solo sono sopra sotto spesso
        stata stati stato subito sulla sulle sullo tale tanto tramite tranne tutta tutte tutti tutto verso vicino
        volta vostra vostro
    """,
    "pt": """
        além algo alguém algum alguma algumas alguns ainda ante antes apenas apesar após aquela aquele aqueles aqui
        assim através bastante cada como conforme contra contudo cuja cujo dela dele deles dentro depois desde dessa
        desse desta deste deve devem disso disto dois durante elas eles embora enquanto então entre essa essas esse
        esses esta está estão estar estas este estes exceto fazer feito foram fora grande havia hoje isso isto junto
        logo longe maior mais mediante melhor menos mesma mesmo minha muita muitas muito muitos nada nela nele
        nenhum nenhuma nessa nesse nesta neste nossa nosso nova novo nunca onde outra outras outro outros para parte
        pela pelas pelo pelos perante perto pode podem porém porque portanto pouco poucos primeira primeiro própria
        próprio qual quais qualquer quando quanto quase quem segundo seja sempre sendo será seus sido sobre suas
        também tanto tenha teve toda todas todavia todo todos trás tudo umas vários você vocês
    """,
    "nl": """
        achter alle alleen alles altijd ander andere anders behalve beide beneden binnen boven buiten daar daardoor
        daarna daarom deze dichtbij doch doen door echter eens eerst eigen elke enkele geen gehad haar hebben heeft
        heel hier ieder iedereen iemand iets indien jouw jullie kunnen langs later maar meer meest mijn misschien
        moet moeten mogen naar naast nabij nadat niemand niet niets nooit omdat ondanks onder onze over overal rond
        rondom samen sinds slechts sommige soms steeds tegen terwijl tevens tijdens toch toen totdat tussen vaak
        vanaf vanuit veel verder volgende volgens voor vooral voorbij voordat waar waarin waarom wanneer want waren
        welke werd werden worden wordt zeer zelf zelfs zich zijn zoals zodat zonder zouden zulke
    """,
    "sv da no": """
        alla alle allerede allt alltid altid anden andet andra andre annan annat bara bare begge blandt bland blev
        bliva blive bliver blir både båda dere deras deres derfor derefter dessa denna detta dette disse därför
        efter eftersom eller emot endnu enligt enten etter fordi foran flera från före gennem genom gjennom gjorde
        gjort göra hade hans hele hela hende hendes henne hennes hvad hvem hver hvilke hvilken hvis hvor hvordan
        hvorfor hvornår ibland igen ikke imellem imod inden inga ingen inget innan inom innenfor inte intet jeres
        kanskje kunde kunne langs längs mange många medan meget mellan mellem mellom mens mere mest måske måste
        mycket nogen noen något noget nogle några någon när nära nær nærmere ofta ofte också også omkring over redan
        rundt samma samme sammen samt samtidig sedan selv siden sina sista sitt själv skal skall skulle slik snart
        således till tills trods trots uden under utan utanför uten utenfor vara vare varandra varför varit varje
        vart vidare vilka vilken vilket ville være været vært åter över
    """,
    "fi": """
        aina alla ehkä eivät ennen ettei että halki heidän hyvin ilman itse joiden joissa joka jolla jonka jopa
        jossa josta jotka jotta kaikki kanssa kautta keskellä kohti kuin kuinka kuitenkin lisäksi lähellä läpi miksi
        missä mitä mukaan mutta myös niiden niin olemme olen olet olivat olla ovat paitsi pitkin puolesta päällä
        rinnalla saada samalla sekä siellä siis sillä sitten taas takana tämä tämän tässä tätä täällä vaan vaikka
        vain vastaan vielä viime voivat vuoksi välillä ylös ympäri
    """,
    "hu": """
        ahol akkor alatt általában által amely amelyek amíg amikor annak arra azért azok azonban azután benne csak
        ebben egyéb egyes egyik együtt ehhez ekkor elég ellen előtt először ennek erre ezek ezen ezért felé felett
        fölött hanem hiszen hogy hogyan igen illetve ilyen innen ismét jobban kell kellett keresztül kívül körül
        között közül legalább legyen lehet lenne lesz lett maga majd mellett mely melyek mert miatt miért minden
        mindig mint mintha mivel mögött nagyon néhány nélkül nincs olyan össze pedig persze saját semmi során
        szemben szerint számára tehát teljes tovább továbbá több után utolsó vagy vagyis valaki valami vannak végül
        vele vissza viszont volna volt
    """,
    "pl": """
        albo aniżeli bardzo blisko bowiem będą będzie była było były chociaż ciągle coraz czasem często czyli dalej
        dlaczego dlatego dobrze dopiero dookoła dość dzięki gdyby gdyż gdzie inna inne innych jakby jaki jakie jako
        jednak jego jest jestem jeszcze jeśli jeżeli każda każde każdy kiedy kilka koło która które którego której
        który których którym którzy lecz mają mamy między mimo mogą może można musi nadal nasz nawet niech niego
        nigdy obok około oprócz oraz poza podczas podobnie pomiędzy pomimo ponad ponieważ potem powinien poprzez
        przeciw przeciwko przed przede przez przy również siebie skąd taka taki takich takie także tego temu tych
        tylko tymi wami według wiele wielu więc właśnie wokół wszyscy wszystko wszystkie wśród wzdłuż zanim zawsze
        znowu został została żeby
    """,
    "cs sk": """
        aby ačkoli alebo aniž avšak blízko bude budou budú byla bylo byly bola bolo boli byť být cez dalších další
        ďalší dokud druhé hned jako jaké jaký ještě jeden jednak jeho jejich její jenom jenž jestli jsem jsme jsou
        jste kdyby když kolem která které kterého který kteří ktorá ktoré ktorí ktorý ktorých kromě kvůli lebo mají
        mezi medzi mimo mnoho může môže musí nebo nějaký například než nielen okolo okrem pouze podle podľa podél
        pokud počas potom pred před presto přesto pretože protože preto proto proti při přes první sice skrz spolu
        stále svůj tady také takže tedy teda tento tieto tiež této tohoto toho tomto tomu toto tyto těch těchto
        uvnitř vaše však vedle velmi více viac vlastně všechno všetko všichni vždy zatímco zpět
    """,
    "hr sr": """
        bila bili bilo biti blizu bude dakle gdje iako inače ispod ispred između iznad jedan jesu kada kako kod koja
        koje koji kojih kojim kraj kroz malo mnogo može moraju nakon neke neki nego nešto nije nisu niti njegov
        njihov osim ovaj ovdje pokraj pored poslije posle prema preko pred prije protiv putem samo sada stoga svaki
        svoj tada tako također takođe tamo tijekom tokom toga unutar uprkos usprkos više već zašto zato zbog
    """,
    "ro": """
        acea aceasta această aceea acest acesta aceste acolo acum aici alte altul apoi aproape asemenea astfel
        asupra atunci atât avea care către ceea cele chiar cine contra când câte dacă deasupra deci decât deja
        deoarece departe despre deși dintre după este erau face fără fiecare fiind foarte fost împotriva împreună
        încă înainte înapoi însă între lângă mult multe mulți nici nimic noastre nostru numai oricare oricum pentru
        peste până poate prea prin printre sale spre sunt suntem toate toată totuși trebuie unde unei unele unor
        unui vostru
    """,
    "tr": """
        ancak arasında artık asla aynı ayrıca bana bazen bazı belki beri bile biraz birçok biri birkaç boyunca
        bunlar bunun bunu burada bütün böyle çünkü daha dahi değil dışında diğer diye doğru dolayı eden eğer etmek
        fakat gibi göre hangi hatta henüz hepsi herhangi herkes için içinde içeri ilgili işte kadar karşı karşın
        kendi kere kimse lakin nasıl neden nerede niçin niye olan olarak oldu olduğu olmak olması olup olur onlar
        onun önce öyle rağmen sadece sanki sonra şekilde şimdi şöyle tarafından tekrar tümü üzere üzerinde üstünde
        vardı veya yakın yalnız yani yeni yerine yine yoksa yüzünden zaten
    """,
    "ca": """
        abans altra altre altres així això amb aquell aquella aquest aquesta aquestes aquests bastant cada cap com
        contra dalt darrere davant dins doncs durant després ella elles ells encara enfront entre eren estan estat
        està excepte fins fora gaire haver igual junt llavors lluny malgrat massa mateix mentre menys meva
        mitjançant molt molta molts nosaltres nostra nostre només però perquè poc pocs potser prop qual qualsevol
        quan quant quina quines quins segons sense seva seus sinó sobre sota també tanmateix tenir teva tota totes
        tots ultra unes vegada vers vosaltres vostra vostre
    """,
    "el": """
        αλλά ανάμεσα αντί αυτά αυτές αυτή αυτό αυτοί αυτός γιατί διότι είμαι είναι εάν εκεί εκείνη εκείνο εκείνος
        εκτός εναντίον έναν ένας εξαιτίας έξω επάνω επειδή επίσης εσείς έτσι έχει έχουν ήταν ίσως κάθε κάποια
        κάποιος κατά κάτω κοντά μαζί μακριά μεταξύ μέσα μέσω μετά μέχρι μόνο μπορεί μπορούν μπροστά οποία οποίο
        οποίος όλα όλοι όμως όπως όπου όταν ούτε πάντα πάνω παρά περίπου πίσω ποιος πολλά πολύ πότε πριν προς πρέπει
        πρώτα στην στις στον στους σύμφωνα σχεδόν τέτοια τέτοιο τόσο τότε τους τώρα ύστερα χωρίς ώστε
    """,
    "ru": """
        более больше будет будто быть весь вдоль вместо внутри возле вокруг вообще всегда всего всех выше даже
        другие другой если есть здесь именно иногда каждый какая какой когда конечно которая которого которое
        которой котором которые который которых кроме куда лишь лучше между меня мимо много может можно надо наконец
        него нельзя нибудь ними ничего однако около очень перед пока после потом потому почему почти против разве
        ради рядом сама свои свою сейчас сегодня сквозь снова согласно спустя сразу среди столько также тебя теперь
        того тогда тоже только хорошо хотя часто чего через чтобы эти этих этого этой этом этот является являются
    """,
    "uk bg": """
        адже або багато беше більше більш буде були було бути бъде вече вони всеки всичко всички всіх въпреки върху
        дали дуже завдяки зараз заради защо защото зад його йому когато което която които който коли както като крім
        кроме крізь лише малко майже между мене може можна много навіть навколо например напроти наші него немає
        ніколи няма обаче однак около окрім освен отново перед поза поки поради после потім почти поне пред през
        проти против просто після само свій себе серед сега след собі срещу също така тази такий також тебе тези
        тепер тільки того тогава тоді тому това този треба трябва туди твърде хоча часто через чого чому чрез щоб
        щодо якщо яка якого який які
    """,
    "id ms": """
        adalah agar akan anda antara apakah atas atau bagaimana bagi bahwa banyak beberapa belum berada bisa boleh
        bukan dalam dapat dari daripada dekat dengan depan hanya harus hingga jika juga kami kamu karena kemudian
        kepada ketika kita kurang lagi lain lainnya lalu lebih luar masih mana melalui mengapa mereka menjadi namun
        oleh pada para pernah perlu saat saja sambil sampai sangat satu saya sebagai sebelum sebuah secara sedang
        sehingga sejak sekitar selain selama selalu seluruh semua sendiri seperti sering serta sesuai sesudah
        setelah setiap siapa suatu sudah supaya tanpa telah tentang terhadap termasuk tersebut tetapi tiap tidak
        untuk walaupun yaitu yang
    """,
    "vi": """
        bằng cách chúng dưới được giữa hoặc không này người nhiều nhưng những như phải rằng theo thế trên trong
        trước
    """,
    "ar": """
        أيضا أيضاً إذا إلى الآن التي الذي الذين الى بعض بعد بين تحت تكون تلك جدا جميع حتى حول حيث خلال دون ذلك على
        عليه عليها عند عندما غير فقط فوق فيها قبل كانت كان كذلك كما كيف لدى لكن لماذا ليس متى مثل منذ منها نحو هؤلاء
        هذا هذه هناك ولكن وقد يكون
    """,
    "fa": """
        است اگر اما این باشد باید بسیار برای بین خود دارد دارند دیگر روی زیر شده شود شوند کرد کردن کند کنند همه همین
        هنوز نیز
    """,
    "he": """
        אבל אולי אחרי אחרת איפה אינו אלא אלה אנחנו אשר בגלל ביותר הזה היא היה היו הוא זאת יותר כאשר כדי כמו לאחר
        להיות לכן לפני מאוד מתחת עכשיו שהיא שהוא שלה שלהם שלו תחת
    """,
    "hi": """
        अपना अपने इसके उनके उसके करते करना करने किया किसी कुछ गया जैसे तथा तरह द्वारा नहीं बहुत लिए सकता सकते साथ
        होता होती होते
    """,
}

_ALL: Final = frozenset(folded(level(word)) for words in (_WEB, *_WORDS.values()) for word in words.split())


@cache
def _lists() -> tuple[TextAnalyzer, ...]:
    return tuple(TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stopword(name)).build() for name in _BUILT_IN)


def is_stop_word(word: str) -> bool:
    """Return whether this is a stop word of any known language. `word` is levelled."""
    return folded(word) in _ALL or any(not analyzer.analyze(word) for analyzer in _lists())
