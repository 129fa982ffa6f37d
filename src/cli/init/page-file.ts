import { createHash } from 'node:crypto'

/** Reads the token from the fragment, which no log and no Referer sees. */
const script = `
    const surface = location.pathname.startsWith('/operator/') ? 'operator' : 'client'
    const token = new URLSearchParams(location.hash.slice(1)).get('token')
    history.replaceState(null, '', location.pathname)
    const read = (reply) => reply?.json().catch(() => null)
    const form = document.querySelector('form')
    const status = document.querySelector('[role=status]')
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      const reply = await fetch(\`/v1/auth/\${surface}/password/reset\`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token, newPassword: form.elements.password.value }),
      }).catch(() => null)
      if (reply?.ok) form.replaceChildren('Your password is set. You can sign in.')
      else status.textContent = (await read(reply))?.detail ?? 'No answer. Try again.'
    })
    const options = await read(await fetch(\`/v1/auth/\${surface}/options\`).catch(() => null))
    if (options?.passwordMinLength) document.querySelector('#least').textContent = options.passwordMinLength
  `

const policy = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The page may run its own script and call its own host. The policy is in the page, so that every host can send it. */
export function pageFile(): string {
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <!-- If you change the script, the browser's console tells you the hash to write here. -->
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="referrer" content="no-referrer">
  <meta name="viewport" content="width=device-width">
  <title>Choose a password</title>
  <h1>Choose a password</h1>
  <form method="post">
    <p>At least <span id="least">15</span> characters. A few words are easy to remember.
    <p><label>New password <input name="password" type="password" autocomplete="new-password" required></label>
    <p><button>Save</button>
    <p role="status">
  </form>
  <script type="module">${script}</script>
</html>
`
}
