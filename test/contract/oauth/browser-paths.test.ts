import { randomUUID } from 'node:crypto'
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { providerIds } from '../../../src/identity-providers/providers.js'
import { isChromiumMissing, visitors } from '../../support/hosts/browser.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { appTarget } from './oauth-host.js'
import { type RealOauthHost, realOauthHost } from './real-host.js'

const { arrive } = visitors()
const patience = 60_000

const ada: Account = {
  subject: '1815',
  email: 'ada@example.org',
  verified: true,
  name: 'Ada Lovelace',
}

const all = eachSurface.cells.flatMap((surface) =>
  providerIds.map((provider) => ({ surface, provider })),
)

/** On the provider's own pages. */
async function signInAndAgree(page: Page): Promise<void> {
  await page.fill('input[name=login]', ada.subject)
  await page.fill('input[name=password]', randomUUID())
  await page.click('button[type=submit]')
  await page.getByRole('button', { name: 'Continue' }).click({ noWaitAfter: true })
}

/** A page of the host's, with a link that leads away from it. */
async function follow(page: Page, host: RealOauthHost, href: string): Promise<void> {
  await page.goto(`${host.url}/`)
  await page.evaluate(`location.assign(${JSON.stringify(href)})`)
  await page.waitForSelector('input[name=login]')
}

async function startWeb(page: Page, host: RealOauthHost, place: (typeof all)[number]) {
  const target = `${host.url}/signed-in`
  const query = new URLSearchParams({ redirectUri: target })
  const start = `/v1/auth/${place.surface}/oauth/${place.provider}/start?${query}`
  await follow(page, host, `${host.url}${start}`)
  return target
}

const flowCookies = async (context: BrowserContext) =>
  (await context.cookies()).filter(({ name }) => name.includes('oauth'))

describe.skipIf(isChromiumMissing)('chromium signs in at real providers', () => {
  it.each(all)(
    '$provider [$surface], and is back with a session',
    async (place) => {
      const host = await realOauthHost([place.provider], { secure: true })
      host.join(place.provider, ada)
      const context = await arrive()
      const page = await context.newPage()
      const target = await startWeb(page, host, place)
      expect(await flowCookies(context)).toMatchObject([
        {
          name: expect.stringMatching(/^__Host-/),
          httpOnly: true,
          secure: true,
          // Apple answers by a form from its own page, which is another site.
          sameSite: place.provider === 'apple' ? 'None' : 'Lax',
        },
      ])
      await signInAndAgree(page)
      await page.waitForURL(target)
      const marker = { operator: '__Host-op_signed_in=1', client: '__Host-cl_signed_in=1' }
      expect(await page.evaluate('document.cookie')).toBe(marker[place.surface])
      const session = await page.evaluate(async (path) => {
        const reply = await fetch(path)
        return [reply.status, await reply.json()]
      }, `/v1/auth/${place.surface}/session`)
      expect(session).toMatchObject([
        200,
        { user: { email: 'ada@example.org', emailVerified: true } },
      ])
    },
    patience,
  )

  it.each(all)(
    '$provider [$surface], and every way that leads nowhere ends on a page of the host',
    async (place) => {
      const host = await realOauthHost([place.provider], { secure: true })
      host.join(place.provider, ada)
      const page = await (await arrive()).newPage()
      const target = await startWeb(page, host, place)
      const callback = page.waitForRequest((request) => request.url().includes('/callback'))
      await signInAndAgree(page)
      const came = await callback
      await page.waitForURL(target)
      const at = `${host.url}/v1/auth/${place.surface}/oauth/${place.provider}`
      await page.goto(`${at}/callback?code=x&state=${'A'.repeat(43)}`)
      expect(new URL(page.url()).pathname).toBe('/login')
      await page.goto(`${at}/start?redirectUri=${encodeURIComponent('https://evil.example/')}`)
      expect(page.url()).toBe(`${host.url}/login?error=redirect_not_allowed`)
      // The way back by a link is what Back and a reload repeat; a form they ask about first.
      if (came.method() !== 'GET') return
      await page.goto(came.url())
      expect(page.url()).toBe(`${target}?status=authenticated`)
    },
    patience,
  )

  it.each(all)(
    '$provider [$surface] for an app, and keeps nothing of it (RFC 8252)',
    async ({ surface, provider }) => {
      const host = await realOauthHost([provider], { secure: true })
      host.join(provider, ada)
      const context = await arrive()
      const page = await context.newPage()
      await follow(page, host, await host.departFromApp(surface, provider, { appState: 'mine' }))
      const callback = page.waitForResponse((reply) => reply.url().includes('/callback'))
      await signInAndAgree(page)
      const back = new URL((await (await callback).headerValue('location')) ?? '')
      expect(`${back.protocol}${back.pathname}`).toBe(appTarget[surface])
      expect(back.searchParams.get('state')).toBe('mine')
      expect(await context.cookies(host.url)).toEqual([])
      const reply = await host.exchange(surface, back.searchParams.get('code') ?? '')
      expect([reply.status, reply.setCookies]).toEqual([200, []])
      const bearer = textOf(reply.json(), 'accessToken')
      const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
      expect(me.json()).toMatchObject({ identities: [{ provider }] })
    },
    patience,
  )
})
