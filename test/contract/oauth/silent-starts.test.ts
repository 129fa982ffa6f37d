import { expect, it } from 'vitest'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { locationOf, oauthHost, webTarget } from './oauth-host.js'

const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const clicked = { 'sec-fetch-user': '?1' }

/** How a browser comes to the start of a sign-in, and whether the provider lets the person choose. */
const starts: readonly (readonly [string, Readonly<Record<string, string>>, boolean])[] = [
  ['a foreign page that leads there by itself', { ...page, 'sec-fetch-site': 'cross-site' }, true],
  ['a click on a foreign page', { ...page, ...clicked, 'sec-fetch-site': 'cross-site' }, false],
  ['a neighbouring subdomain by itself', { ...page, 'sec-fetch-site': 'same-site' }, true],
  ['a click within the site', { ...page, ...clicked, 'sec-fetch-site': 'same-site' }, false],
  ['a page of the host', { ...page, 'sec-fetch-site': 'same-origin' }, false],
  ['an address that was typed', { ...page, 'sec-fetch-site': 'none' }, false],
  [
    'a click that is none',
    { ...page, 'sec-fetch-site': 'cross-site', 'sec-fetch-user': '?0' },
    true,
  ],
  ['a browser that does not say', {}, true],
]

eachSampleStore.describe('the start of a sign-in with a provider', (kind) => {
  eachSurface.describe((surface) => {
    it.each(starts)('%s', async (_, headers, asks) => {
      const host = await oauthHost({}, kind)
      // What `fetch` says of itself cannot be changed.
      const raw = rawClient(host.url)
      const prompts: [ProviderId, string | null][] = []
      for (const provider of providerIds) {
        const to = encodeURIComponent(webTarget[surface])
        const path = `/v1/auth/${surface}/oauth/${provider}/start?redirectUri=${to}`
        const reply = await raw('GET', path, { headers })
        expect(reply.status, reply.text).toBe(302)
        prompts.push([provider, new URL(locationOf(reply)).searchParams.get('prompt')])
      }
      // Apple asks at each sign-in, and knows no such parameter.
      const wanted = (id: ProviderId) => (asks && id !== 'apple' ? 'select_account' : null)
      expect(prompts).toEqual(providerIds.map((id) => [id, wanted(id)]))
    })
  })
})

it('a sign-in whose account was chosen ends as any other', async () => {
  const host = await oauthHost()
  const ada = { subject: '1815', email: 'ada@example.org', verified: true }
  const begun = await host.startWeb('client', 'google', {}, {})
  const cookie = begun.setCookies.map((one) => one.split(';')[0]).join('; ')
  const brought = host.stub.agree(locationOf(begun), ada)
  const back = await host.comeBack('client', 'google', brought, cookie)
  expect([back.status, locationOf(back)]).toEqual([302, webTarget.client])
})
