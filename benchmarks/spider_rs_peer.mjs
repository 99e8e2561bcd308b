// spider-rs (Rust) through its npm package: stays on one host at a time, obeys robots.txt, stores nothing.
// usage: node spider_rs_peer.mjs SEED…
import { Website } from '@spider-rs/spider-rs';

const seeds = process.argv.slice(2);
const started = process.hrtime.bigint();
let pages = 0;
for (const seed of seeds) {
  const website = new Website(seed).withRespectRobotsTxt(true).build();
  await website.crawl();
  pages += website.getLinks().length;
}
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
console.log(JSON.stringify({ pages, seconds }));
