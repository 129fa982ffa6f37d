import { htmlText } from './html-text.ts'
import type { KeptMail } from './mail-box.ts'

/** The page that shows the mails of the demo, in place of a mailbox. */
export function mailPage(mails: readonly KeptMail[]): string {
  const list = mails.map(entry).join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mails of the demo</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/console.css">
</head>
<body>
<main class="mails">
<p><a href="/">Back to the demo</a></p>
<h1>Mails of the demo</h1>
<p>This page is for the demo alone. It stands in for the mailboxes of your users. Load it again for new mails.</p>
${list === '' ? '<p>There is no mail yet.</p>' : `<ol>\n${list}\n</ol>`}
</main>
</body>
</html>
`
}

function entry({ id, subject, text, locale, mail }: KeptMail): string {
  const { to, surface, data } = mail
  const link = 'url' in data ? ` · <a href="${htmlText(data.url)}">Open the link</a>` : ''
  const language = htmlText(locale)
  return `<li>
<p><strong lang="${language}">${htmlText(subject)}</strong><br>
to ${htmlText(to)} (${surface === 'client' ? 'user' : 'operator'}) <a href="/demo/mails/${id}">Show as HTML</a>${link}</p>
<details><summary>Show as text</summary><pre lang="${language}">${htmlText(text)}</pre></details>
</li>`
}
