import type { Mail } from 'postern'
import { htmlText } from './html-text.ts'

/** The page that shows the mails of the demo, in place of a mailbox. */
export function mailPage(mails: readonly Mail[]): string {
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
<h1>Mails of the demo</h1>
<p>This page is for the demo alone. It stands in for the mailboxes of your users. Load it again for new mails.</p>
${list === '' ? '<p>There is no mail yet.</p>' : `<ol>\n${list}\n</ol>`}
</main>
</body>
</html>
`
}

function entry(mail: Mail): string {
  const { to, surface, template, data } = mail
  const link = 'url' in data ? `<a href="${htmlText(data.url)}">Open the link</a>` : ''
  return `<li><strong>${htmlText(template)}</strong> to ${htmlText(to)} (${surface}) ${link}</li>`
}
