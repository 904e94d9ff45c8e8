// key: [English, Chinese]. Short, plain, the same word for the same thing everywhere.
export const words = {
  skip: ['Skip to content', '跳到正文'], compare: ['Compare', '比较'], search: ['Search', '查找'], library: ['Library', '文库'], feedback: ['Feedback', '采用情况'],
  undo: ['Undo', '撤销'], close: ['Close', '关闭'], retry: ['Try again', '重试'], loading: ['Loading', '正在载入'], keys: ['Keyboard', '快捷键'], commands: ['Commands', '命令'], 
  theme: ['Theme', '外观'], auto: ['System', '跟随系统'], light: ['Light', '浅色'], dark: ['Dark', '深色'], examples: ['Try an example', '试一个例子'], download: ['Download report', '下载报告'], 
  // edits
  kept: ['kept', '保留'], moved: ['moved', '移动'], reworded: ['reworded', '改写'], deleted: ['deleted', '删除'], inserted: ['inserted', '新增'], changed: ['changed', '改动'], equal: ['equal', '相同'],
  // score
  same: ['Same text', '文字相同'], same_: ['Equal but for case, width and white space.', '只有大小写、全半角或空白不同。'],
  nearly: ['Nearly the same', '几乎相同'], nearly_: ['A few words in a hundred differ, or paragraphs were moved.', '每百字只差几个字，或只是段落换了位置。'],
  edited: ['Same text, edited', '同一文本，有修改'], edited_: ['Sentences were cut, added or rewritten; most of the text is shared.', '有整句的删、增、改，大部分文字相同。'],
  large: ['Large parts in common', '大段相同'], large_: ['About as if one text were half of the other.', '大致相当于一篇是另一篇的一半。'],
  material: ['Same material, other words', '素材相同，写法不同'], material_: ['About half of the words differ, or it is a rewrite of the same material.', '约一半字词不同，或是对同一素材的改写。'],
  unrelated: ['Unrelated', '没有关联'], unrelated_: ['No more in common than any two texts of one language.', '相同之处不比任意两篇同语言的文本更多。'],
  nothing: ['Nothing in common', '毫无相同'], nothing_: ['Not one piece of a word in both.', '没有任何相同的字词。'],
  alike: ['alike', '相似'], notalike: ['not alike', '不相似'], threshold: ['threshold', '阈值'], 
  page_: ['Mean of style, forms and text. Choose one view to see it alone.', '样式、表单与文字三项的平均。可单独选看一项。'], record_: ['Mean of the parts below.', '下列各项的平均。'],
  page_yes: ['Same page, changed', '同一网页，有改动'], page_no: ['Different pages', '不同的网页'], record_yes: ['Same record, changed', '同一记录，有改动'], record_no: ['Different records', '不同的记录'], page_most: ['Most alike: {a} {x}; least: {b} {y}.', '最像的是{a}（{x}），最不像的是{b}（{y}）。'],
  // compare
  c_title: ['How alike are they, and why?', '两份内容有多像，像在哪里？'], c_lead: ['Paste or drop two texts, files or web pages.', '粘贴或拖入两段文字、两个文件或两个网页。'], left: ['First text', '第一份'], right: ['Second text', '第二份'],
  paste: ['Paste text, drop a file, or type an address', '粘贴文字、拖入文件或输入网址'], choose: ['Choose a file', '选择文件'], run: ['Compare', '开始比较'], swap: ['Swap sides', '左右对调'], edit: ['Change texts', '换文本'], clear: ['Clear', '清空'],
  as: ['Compare as', '比较方式'], text: ['Text', '文字'], code: ['Code', '代码'], page: ['Web page', '网页'], record: ['Record', '记录'], method: ['Score by', '评分依据'], forms: ['Does not count', '不计入差异'], always: ['always', '始终'],
  f_case: ['case', '大小写'], f_space: ['white space', '空白'], f_markup: ['markup', '标记'], f_quotes: ['quotes', '引号'], f_width: ['width', '全半角'], f_script: ['script', '繁简'], f_numerals: ['numerals', '数字写法'],
  x_markup: ['<b>, **bold**, # heading', '<b>、**粗体**、# 标题'], x_quotes: ['「」 “” "', '「」 “” "'], x_width: ['２１ 21', '２１ 21'], x_script: ['臺灣 台湾', '臺灣 台湾'], x_numerals: ['四十二 42', '四十二 42'],
  side: ['Side by side', '左右对照'], inline: ['Inline', '合并显示'], fold: ['Fold unchanged', '折叠未改动'], next: ['Next change', '下一处'], prev: ['Previous change', '上一处'], changes: ['{n} changes', '{n} 处改动'], nochange: ['No change of this kind', '没有这类改动'],
  unchanged_p: ['{n} unchanged paragraphs · {c} characters', '{n} 段未改动 · {c} 字'], unchanged_l: ['{n} unchanged lines', '{n} 行未改动'], unchanged_t: ['{n} equal tags', '{n} 个相同标签'],
  passages: ['Shared passages', '相同段落'], passages_: ['Longest first', '由长到短'], measures: ['All measures', '全部度量'], made: ['How it was made', '计算方式'], chars: ['{n} characters', '{n} 字'], 
  inB: ['of A is also in B', '的 A 也在 B 中'], inA: ['of B is also in A', '的 B 也在 A 中'], 
  movedto: ['moved to {n}', '移到第 {n} 处'], movedfrom: ['moved from {n}', '移自第 {n} 处'], change_say: ['Change {i} of {n}, {kind}: {what}', '第 {i} 处，共 {n} 处，{kind}：{what}'], became: ['{a} became {b}', '“{a}”改为“{b}”'],
  ex_zh: ['Chinese draft and final', '中文初稿与定稿'], ex_en: ['English news, reposted', '英文稿件与改稿'], ex_code: ['Two programs', '两份代码'], ex_page: ['Article and repost page', '原文网页与转载页'], ex_record: ['Two invoices', '两张发票'], ex_script: ['Text with tags', '含标签的文本'],
  field: ['Part', '项目'], similarity: ['Similarity', '相似度'], swapped: ['Sides swapped', '已左右对调'], minimap: ['Map of changes', '改动分布'], map_go: ['Go to a place in the text', '跳到文中位置'],
  m_all: ['style, forms, text', '样式、表单、文字'], m_tags: ['tags', '标签'], m_structure: ['structure', '结构'], m_style: ['style', '样式'], m_links: ['links', '链接'], m_forms: ['forms', '表单'], m_text: ['text', '文字'], m_content: ['main text', '正文'], m_blend: ['words and phrases', '字词与短语'],
  // search
  s_title: ['What looks like this?', '有哪些内容和它相像？'], s_lead: ['Among {n} documents', '文库共 {n} 篇'], s_place: ['Paste a text, drop a file, or type a SimHash such as 0xa789…', '粘贴文字、拖入文件，或输入 SimHash（如 0xa789…）'],
  near: ['Alike as a whole', '整体相似'], bypassages: ['Shares a passage', '有相同段落'], simhash: ['Same fingerprint', '指纹相近'], from: ['From', '不低于'], where: ['Only', '只看'], found: ['{n} look like it', '找到 {n} 篇'], foundone: ['1 looks like it', '找到 1 篇'], oldest: ['oldest {id}, {day}', '最早：{id}，{day}'],
  none: ['Nothing looks like it', '没有找到相像的内容'], none_: ['No document scores {x} or more. It can be added as new.', '没有相似度达到 {x} 的文档，可以作为新内容收入。'], open: ['Side by side', '左右对照'], repost: ['It is a repost of this', '标为转载'], admit: ['Add as new', '作为新内容收入'], admitted: ['Added as {id}', '已收入：{id}'], reposted: ['Marked as a repost of {id}', '已标为 {id} 的转载'],
  covers: ['Where the query is shared', '查询文本中相同的位置'], repostof: ['repost', '转载'],
  // library
  documents: ['Documents', '文档'], clusters: ['Clusters', '相似群'], upload: ['Add documents', '添加文档'], dropfiles: ['Drop JSONL, CSV, HTML, PDF, DOCX or a folder', '拖入 JSONL、CSV、HTML、PDF、DOCX 或文件夹'], uploading: ['Adding {name}', '正在添加 {name}'], done: ['{a} added, {u} updated, {s} skipped', '新增 {a}，更新 {u}，跳过 {s}'],
  added: ['added', '已新增'], updated: ['updated', '已更新'], skipped: ['skipped', '已跳过'], id: ['Document', '文档'], filter: ['Filter', '筛选'], remove: ['Remove', '移除'], removed: ['{n} removed', '已移除 {n} 篇'], selected: ['{n} selected', '已选 {n} 篇'], showing: ['{n} of {all}', '{n} / {all} 篇'],
  atthreshold: ['{c} clusters with {d} documents at {x}', '阈值 {x}：{c} 群，{d} 篇'], hist: ['Pairs by similarity (log scale)', '按相似度的文档对数（对数刻度）'], keeper: ['kept', '保留'], pick: ['Choose a cluster in the graph or below', '在图中或下方选一个群'], graph_l: ['Graph of documents; a line joins two that are alike', '文档关系图，连线表示相似'], dupes: ['Remove the {n} others', '移除其余 {n} 篇'],
  two: ['Choose two to see them side by side', '勾选两篇可左右对照'], notext: ['{name} has no column “text”', '{name} 没有名为 text 的列'], morelines: ['and more', '等'],
  // feedback
  pairs: ['Pairs', '文本对'], b_title: ['How usable were the drafts?', 'AI 初稿有多少可用？'], b_lead: ['{n} pairs of draft and final text', '{n} 对初稿与定稿'], usable: ['usable', '可用率'], asis: ['used as is', '直接采用'], lightedit: ['light edit', '小改'], heavyedit: ['heavy edit', '大改'], rewritten: ['rewritten', '重写'], discarded: ['discarded', '弃用'],
  asis_: ['nothing but white space or case was changed', '只改了空白或大小写'], lightedit_: ['at most about one character in six was replaced', '最多约六分之一的字被替换'], heavyedit_: ['at most about half was replaced', '最多约一半被替换'], rewritten_: ['traces are left', '只留下痕迹'], discarded_: ['nothing to speak of is left', '几乎没有留下什么'],
  verdicts: ['What became of them', '最终处理'], bymodel: ['By model: {what}', '各模型：{what}'], ci: ['Line: 95 % interval', '横线：95% 置信区间'], overtime: ['By week: {what}', '每周：{what}'], often: ['Often removed', '常被删去'], times: ['{n} times', '{n} 次'], editshare: ['Edit share', '改动比例'], verdict: ['Verdict', '处理'], model: ['Model', '模型'], editor: ['Editor', '编辑'], date: ['Date', '日期'], all: ['All pairs', '全部文本对'], draft: ['Draft', '初稿'], final: ['Final', '定稿'], median: ['median edit share', '改动比例中位数'], clearf: ['Clear filter', '清除筛选'], pair: ['Pair', '文本对'], more: ['Show {n} more', '再显示 {n} 条'], emptyfinal: ['The final text is empty: the draft was discarded.', '定稿为空：初稿被弃用。'],
  extended: ['extended', '续写'], extended_: ['the draft was kept, and something was added', '初稿保留，另有新增'], badline: ['Line {n} is not JSON', '第 {n} 行不是合法的 JSON'],
  // the service
  gone: ['The service does not answer', '服务没有响应'], gone_: ['It may be starting again. Nothing that it acknowledged is lost.', '可能正在重启；已确认保存的内容不会丢失。'], failed: ['The service answered {n}', '服务返回 {n}'], again: ['Try again in {n} s.', '{n} 秒后再试。'], oneempty: ['One side is empty', '有一侧是空的'], oneempty_: ['Paste or drop something on both sides.', '请在两侧都粘贴或拖入内容。'],
  toolarge: ['This is too large for the page', '内容太大，网页放不下'], toolarge_: ['Use: lookalike compare A B --html report.html', '请用命令：lookalike compare A B --html report.html'], notjson: ['A record is a JSON object', '记录应是 JSON 对象'], token: ['This service asks for a token', '此服务需要令牌'], token_: ['Whoever runs it has one for you. It stays in this tab.', '请向管理员索取；令牌只保存在本标签页。'], go: ['Continue', '继续'], query: ['Query', '查询'], bymeaning: ['Means the same', '意思相同'],
  facts: ['Facts', '信息'], e_lib: ['No document yet. Drop files above, or try the examples.', '还没有文档。请把文件拖到上方，或试用示例。'], nofilter: ['No document contains this', '没有文档包含这些字'], readonly: ['This service only reads.', '此服务只读。'], below: ['The collection was made for {x}; below it, this was computed anew and nothing is missing.', '文库按 {x} 建立；更低的阈值已重新计算，没有遗漏。'], e_clusters: ['No two documents are alike at this threshold.', '在此阈值下没有相似的文档。'], f_accents: ['accents', '重音'], x_accents: ['é e', 'é e'], keeplink: ['Link to this comparison', '此比较的链接'],
  // empty states
  b_drop: ['Drop a file with one pair of draft and final text per line: JSON lines or CSV.', '拖入一个文件，每行一对初稿与定稿：JSONL 或 CSV。'], e_s: ['Paste what you want to check. You will see every document that shares a passage with it, and where.', '粘贴要查的内容，即可看到哪些文档与它相同，以及相同在哪里。'], e_load: ['Use the example pairs', '使用示例数据'],
  e_q1: ['A Chinese repost', '一篇中文转载'], e_q2: ['An English repost', '一篇英文转载'], e_q3: ['Something new', '一篇全新的内容'],
  k_view: ['Go to a view', '切换视图'], k_change: ['Next, previous change', '下一处、上一处改动'], k_swap: ['Swap sides', '左右对调'], k_inline: ['Side by side or inline', '对照或合并显示'], k_fold: ['Fold unchanged parts', '折叠未改动部分'], k_run: ['Compare, search', '开始比较、查找'], k_palette: ['Commands', '命令面板'], k_help: ['This list', '本列表'], k_list: ['Move in a list', '在列表中移动'], k_open: ['Open', '打开'], k_kind: ['Show one kind of change', '只看一类改动'], k_esc: ['Close, clear the filter', '关闭、清除筛选'],
};
