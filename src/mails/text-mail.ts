import type { MailParts } from './mail-parts.js'

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
