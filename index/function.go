package index

import (
	"strings"
	"sync"

	"dossier/lang"
)

// functionWords are the words that carry the grammar of a language and the
// words that ask. A text shows its language by them, and in a query they
// count little: they say how it is asked, not what about. Surfaces are as the
// scanner folds them.
var functionWords = map[lang.Code]string{
	"en": `a about after all also am an and any are as at be because been before being between both but by can could
did do does doing done during each either for from had has have having he her hers him his how however i if in into is it
its itself may me might more most much must my no nor not of off often on one only or other our out over own s same shall
she should since so some such t than that the their them then there these they this those through thus to too under until
up upon us very was we were what when where whether which while who whom whose why will with within without would you your
called name many according give gave given tell find list describe explain`,
	"de": `aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da damit dann
das dass dein dem den denn der des dessen deren die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem
einen einer eines er es etwa etwas euch fur für gab gibt habe haben hat hatte hatten heißt heisst ich ihm ihn ihnen ihr ihre
ihrem ihren ihrer ihres im in ins ist ja jede jedem jeden jeder jedes kann kein keine konnte können laut man mehr mein mit
muss nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so solche soll sollte sowie
über um und uns unter vom von vor wann war waren warum was wegen welche welchem welchen welcher welches wem wen wenn wer
werden wessen wie wieso wieviel viele wir wird wo wodurch wofür woher wohin womit wurde wurden wäre zu zum zur zwischen
name lautet nannte genannt`,
	"fr": `a ai ainsi alors après au aucun aussi autre autres aux avant avec avait avoir c car ce cela celle celui ces cet
cette ceux chez comme comment d dans de depuis des donc dont du elle elles en encore entre est et était étaient été être eu
fait il ils j je l la le les leur leurs lorsque lui mais m me même moins n ne ni non nos notre nous on ont ou où par parce
pas pendant peu peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se selon ses si son sont
sous sur t te tous tout toute toutes très tu un une vers votre vous y combien`,
	"es": `a al algo algunos ante antes aunque así cada como con contra cual cuál cuáles cuando cuándo cuánot cuántos de
del desde donde dónde dos durante e el él ella ellas ellos en entre era eran es esa ese eso esta está están estas este esto
estos fue fueron ha había han hasta hay la las le les lo los más me mi mientras muy nada ni no nos nosotros o otra otro otros
para pero por porque que qué quien quién quiénes se sea según ser si sí sido sin sobre son su sus también tan tanto te tiene
tienen todo todos tras tu un una uno unos y ya yo`,
	"it": `a ad agli ai al alla alle allo anche ancora avere c che chi ci come con contro cosa cui da dagli dai dal dalla
dalle dei del della delle dello di dopo dove e è ed era erano essere fra gli ha hanno i il in io l la le lei lo loro lui ma
mi mio ne nei nel nella nelle nello no noi non nostro o ogni per perché perchè più poi prima può qual quale quali quando
quanti quanto quella quelle quelli quello questa queste questi questo qui se sei senza si sia sono sta stata stati stato su
sua sue sugli sui sul sulla suo suoi tra tutti tutto un una uno vi voi`,
	"pt": `a à ao aos as às até com como da das de dela dele deles depois do dos e é ela elas ele eels em entre era eram
essa esse esta está este eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito na nas não nem no nos nós nossa
nosso num numa o onde os ou para pela pelas pelo pelos por porque qual quais quando quanto quantos que quem são se seja sem
ser seu seus só sobre sua suas também te tem têm ter tinha um uma você`,
	"nl": `aan al alle alleen als altijd andere bij dan dat de den der deze die dit doch doen door dus een en er ge geen had
hadden heb hebben heeft het hem hen hier hij hoe hoeveel hun ik in is ja je kan kon kunnen maar me meer men met mijn moet na
naar niet nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer
want waren was wat welk welke werd werden wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou`,
	"sv": `alla att av blev bli blir de dem den denna deras dess dessa det detta dig din du där då efter ej eller en er ett
från för ha hade han hans har henne hon hur här i icke ingen inom inte jag kan kunde man med mellan men mig min mot mycket
ni nu när någon något några och om oss på samma sedan sig sin sina sitt ska skulle som så till under upp ut vad var vara
varför varit varje vars vem vi vid vilka vilken vilket är över`,
	"da": `ad af alle at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller en end er
et for fra ham han hans har havde have hende her hos hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor
hvornår i ikke ind jeg jo kan kunne man mange med meget men mig min mod ned noget nogle nu når og også om op os over på sig
sin sit skal skulle som sådan thi til ud under var ved vi vil ville vor være været`,
	"nb": `alle at av ble bli blir bruke da de deg dem den denne der deres det dette din disse du eller en enn er et ett etter
for fordi fra han hans har hadde hennes her hun hva hvem hver hvilke hvilken hvor hvordan hvorfor i ikke inn jeg kan kunne
man med meg men mer mot må noe noen nå når og også om opp oss over på seg selv sin sitt skal skulle som så til ut var ved vi
vil ville være vært`,
	"fi": `ei eivät että hän he ja jo joka jos jotka kanssa koska kuin kuinka kuka kun me mikä missä mitä milloin miksi mutta
myös ne niin niitä oli olivat olla on ovat se sen sekä siitä tai tämä tämän voi vain sitä ole`,
	"ro": `a acest această aceste al ale am ar are au ca care când cât ce cea cei cel cele cine cu cum da dar de despre din
după e ei el este eu fi fost în la le lui mai nu o pe pentru prin sa sau se și ş si sunt toate un una unde unei unor unui`,
	"hu": `a az ahol aki ami amely azt be csak de egy ez ezt és fel ha hogy hol igen is ki kell kik lehet lesz már meg mely mert
mi mikor mint mit nem néhány nincs olyan ő ott pedig sem volt vagy van voltak`,
	"tr": `bir bu ve ile için de da ne o gibi kadar olan olarak daha çok en ki mi mı mu mü nasıl neden niçin nerede kim hangi
kaç her şu ise ya veya ama değil var yok sonra önce tarafından`,
	"ga": `a ach ag agus an ar as ba bhí cad cá cé chun de den do dó faoi gan go i is le leis mar na ní nó ó sa sé seo sin sí tá`,
	"ru": `а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если есть еще же
за здесь и из или им их к как какая какие каким каких каков какова какое какой какого какому каком какую когда ко кого кем
кому ком кто куда ли либо между меня мне много может можно мой мы на над надо называется называют назывался называлась
наш не него нее ней нет ни них но ну о об однако он она они оно от откуда отчего очень по под после потому почему при про
раз с сам своего своей свои свою себя скольких сколько со так также такие такой там тем теми то тогда того тоже той только
том тот ту ты у уже чего чей чем через что чтобы чье чьей чья эта эти этим этих это этого этой этом этот эту я является
являются являлся`,
	"zh": `的 了 和 是 在 我 有 就 不 人 都 一 也 很 到 说 要 去 你 会 着 看 好 自 这 那 什么 什麼 哪个 哪些 哪一 哪里 哪年 哪種 哪种 哪個 哪裡 哪位
怎么 怎樣 怎样 怎麼 如何 为什 为何 為什 為何 多少 几个 幾個 几年 幾年 是什 是谁 是誰 是哪 谁是 誰是 是多 是怎 么样 麼樣 何时 何時 何人 何種 何种 何地
有哪 有什 有多 么是 麼是 些是 年是 是几 是幾 是否 请问 請問 呢 吗 嗎 吧 啊 以及 一个 一個 可以 因为 因為 由於 由于 于是 於是 其中 這個 这个 何年 么时 麼時
么意 麼意 意思 么人 麼人 么叫 什 么 麼 谁 誰 哪 多长 多長 多大 多久 多高 几月 幾月 几号 幾號 人是 中的 的人 的是 了什 了多 了哪 个是`,
}

// votes maps a surface to the tongues in which it is a function word, one bit
// each.
var votes = sync.OnceValue(func() map[string]uint32 {
	m := map[string]uint32{}
	for t := range tongues {
		for w := range strings.FieldsSeq(functionWords[tongues[t].code]) {
			m[w] |= 1 << t
		}
	}
	return m
})

var otherFunctionWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, code := range []lang.Code{lang.Russian, lang.Chinese} {
		for w := range strings.FieldsSeq(functionWords[code]) {
			m[w] = true
		}
	}
	return m
})

// functional reports whether the surface is a function word in one of the
// tongues, given as bits, or in the language of its script.
func functional(surface []byte, k kind, in uint32) bool {
	if k == latin {
		return votes()[string(surface)]&in != 0
	}
	return (k == cyrillic || k == gram || k == character) && otherFunctionWords()[string(surface)]
}
