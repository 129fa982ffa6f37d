import { htmlText } from './html-text.js'
import type { MailParts } from './mail-parts.js'

/** The HTML of a mail, for a layout to put a page around. Every member may stand in HTML as it is. */
export interface MailFrame {
  /** For `<html lang>`. */
  readonly locale: string
  /** For `<html dir>`. */
  readonly direction: 'ltr' | 'rtl'
  /** For `<title>`. */
  readonly title: string
  /**
   * The whole mail, from its heading to its foot. It has the classes `muted` and `button`; its styles stand with the
   * elements, because mail programs take `<style>` away.
   */
  readonly content: string
}

const muted = 'class="muted" style="color:#57606a;font-size:14px"'
const button =
  'class="button" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#0b57d0;color:#ffffff;text-decoration:none;font-weight:600"'

/** The mail as HTML without a page around it. */
export function htmlMail({
  subject,
  greeting,
  before,
  facts,
  button: link,
  after,
  foot,
}: MailParts): string {
  const paragraphs = (texts: readonly string[]) => texts.map((text) => `<p>${htmlText(text)}</p>`)
  const listed = facts.map(
    ({ label, value }) => `<span class="muted">${htmlText(label)}:</span> ${htmlText(value)}`,
  )
  const blocks = [
    `<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${htmlText(subject)}</h1>`,
    ...paragraphs([greeting, ...before]),
    ...(listed.length === 0 ? [] : [`<p>${listed.join('<br>\n')}</p>`]),
    ...(link === null ? [] : linkBlocks(link)),
    ...paragraphs(after),
    `<p ${muted}>${foot.map(htmlText).join('<br>\n')}</p>`,
  ]
  return blocks.join('\n')
}

/** The button, and the address in full for those who cannot use it, or want to see where it leads. */
function linkBlocks({ text, url, hint }: NonNullable<MailParts['button']>): readonly string[] {
  const address = htmlText(url)
  return [
    `<p style="margin:24px 0"><a href="${address}" ${button}>${htmlText(text)}</a></p>`,
    `<p ${muted}>${htmlText(hint)}<br>\n${address}</p>`,
  ]
}

/** The mail as plain text. Lines are not wrapped. */
export function textMail({ greeting, before, facts, button, after, foot }: MailParts): string {
  const listed = facts.map(({ label, value }) => `${label}: ${value}`)
  const blocks = [
    greeting,
    ...before,
    listed.join('\n'),
    button === null ? '' : `${button.text}:\n${button.url}`,
    ...after,
    // The sign by which mail programs know a signature (RFC 3676 §4.3).
    `-- \n${foot.join('\n')}`,
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

const dark = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background:#16181c!important}
.card{background:#22252a!important;color:#e8eaed!important}
.muted{color:#b0b6be!important}
.button{background:#8ab4f8!important;color:#10131a!important}
}`

/** The page around a mail: simple blocks, light and dark, which load nothing. */
export function pageLayout({ locale, direction, title, content }: MailFrame): string {
  // Mail programs that show it within a page of their own drop `<html>`, so that the block says the same.
  const language = `lang="${locale}" dir="${direction}"`
  return `<!doctype html>
<html ${language}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>
${dark}
</style>
</head>
<body class="page" style="margin:0;padding:24px 12px;background:#f4f5f7">
<div role="article" ${language} class="card" style="max-width:560px;overflow-wrap:anywhere;margin:0 auto;padding:24px;border-radius:8px;background:#ffffff;color:#1f2328;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif">
${content}
</div>
</body>
</html>
`
}
