import { expect, it } from 'vitest'
import { flowCookieOf, oauthHost, webTarget } from '../contract/oauth/oauth-host.js'
import { textOf } from '../support/hosts/http-client.js'
import { goodPassword, signedInPerson } from '../support/people/people.js'
import { spyBackend } from '../support/stores/spy-backend.js'
import { figure } from './figures.js'

const surface = 'operator'
/** Whose address the account at the provider has; the first one belongs to no account. */
const states = ['free', 'taken', 'unproved', 'disabled'] as const
const emailOf = (state: string) => `${state}@gmail.com`

async function rig() {
  let spy = spyBackend()
  const host = await oauthHost({
    wrapBackend(inner) {
      spy = spyBackend(inner)
      return spy.backend
    },
  })
  const { users } = host.auth[surface]
  const make = (state: string, more: object = {}) =>
    users.create({ email: emailOf(state), password: goodPassword, emailVerified: true, ...more })
  await make('taken')
  await make('unproved', { emailVerified: false })
  const disabled = await make('disabled')
  await users.update(disabled.id, { enabled: false })
  return { host, calls: spy.calls }
}

it('figure R21: linking tells by no call and no byte whether the address at the provider has an account', async () => {
  const { host, calls } = await rig()

  /** What the asker of the link sees, and what the store was asked. */
  async function linked(state: string, subject: string) {
    const { bearer } = await signedInPerson(host, surface)
    const begun = await host.send('POST', `/v1/auth/${surface}/oauth/google/link`, {
      bearer,
      body: { redirectUri: webTarget[surface], currentPassword: goodPassword },
    })
    expect(begun.status).toBe(200)
    const account = { subject, email: emailOf(state), verified: true }
    const answer = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), account)
    const cookie = flowCookieOf(begun)
    await host.auth.close()
    calls.splice(0)
    const { status, headers, text } = await host.comeBack(surface, 'google', answer, cookie)
    await host.auth.close()
    return { seen: { status, location: headers.get('location'), text }, calls: [...calls].sort() }
  }

  const wanted = await linked('free', 'of free')
  expect(wanted.seen).toMatchObject({ status: 302, location: expect.stringContaining('linked') })
  for (const state of states.slice(1)) {
    expect([state, await linked(state, `of ${state}`)]).toEqual([state, wanted])
  }
  figure('R21', 'linking an account at a provider', `${states.length} addresses: the same calls`)
})
