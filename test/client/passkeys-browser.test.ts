import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { browserHost } from '../contract/http/browser-host.js'
import { passkeyPage } from '../contract/passkeys/passkey-browser.js'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { command } from '../support/package/packed-package.js'
import { person } from '../support/people/people.js'

const { arrive } = visitors()
const root = fileURLToPath(new URL('../../', import.meta.url))

/** A page with a client, its passkeys and a virtual authenticator. */
async function opened(surface: string): Promise<{ page: Page; email: string; password: string }> {
  const host = await browserHost(() => ({ settings: { webauthnMode: 'passwordless' } }))
  const { email, password } = await person(host, surface === 'client' ? 'client' : 'operator')
  const visitor = await arrive()
  await passkeyPage(visitor, host.url)
  const [page] = visitor.pages()
  if (page === undefined) throw new Error('no page')
  const form = ['--bundle', '--format=iife', '--global-name=postern', '--target=es2022']
  const esbuild = `${root}node_modules/esbuild/bin/esbuild`
  const { stdout } = await command(root, esbuild, 'test/client/page-passkeys.ts', ...form)
  await page.addScriptTag({
    content: `${stdout}
      window.client = postern.createClient({
        surface: ${JSON.stringify(surface)},
        onStepUp: () => window.keys.stepUp(),
      })
      window.keys = postern.passkeys(window.client)`,
  })
  return { page, email, password }
}

describe.skipIf(isChromiumMissing)('postern/client/passkeys in chromium', () => {
  it.each(['client', 'operator'])(
    'adds a passkey, signs in by it and proves it, %s',
    async (surface) => {
      const { page, email, password } = await opened(surface)
      const run = <T>(script: string): Promise<T> => page.evaluate<T>(script)
      await run(`client.call('POST /login', ${JSON.stringify({ email, password })})`)
      const options = JSON.stringify({ name: 'This laptop', currentPassword: password })
      expect(await run(`keys.add(${options})`)).toMatchObject({ name: 'This laptop' })
      await run(`client.call('POST /logout')`)
      expect(await run('client.get().status')).toBe('signedOut')
      expect(await run('keys.signIn()')).toMatchObject({ status: 'authenticated' })
      expect(await run('client.get().user.email')).toBe(email)
      await run('keys.stepUp()')
      const status = await run<{ stepUp: { provedAt: string | null } }>(`client.call('GET /mfa')`)
      expect(status.stepUp.provedAt).not.toBeNull()
    },
  )

  it('rejects with the client’s errors where the server refuses', async () => {
    const { page } = await opened('client')
    const failed = page.evaluate(`keys.add().catch((error) => [error.kind, error.status])`)
    expect(await failed).toEqual(['problem', 401])
  })
})
