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
