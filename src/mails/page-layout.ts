import type { MailFrame } from './html-mail.js'

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
