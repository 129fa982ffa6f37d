import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, surfaces } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { codeOf, finish, passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { type Person, person, type SignedIn, signIn } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'

/** What a person does in a session of theirs; `chosen` is what they say about the others. */
interface Acting {
  readonly host: ContractHost
  readonly surface: Surface
  readonly who: Person & SignedIn
  readonly chosen: { readonly endOtherSessions?: boolean }
}

const sendTo = ({ host, surface, who }: Acting, method: string, path: string, body?: object) =>
  host.send(method, `/v1/auth/${surface}${path}`, {
    bearer: who.bearer,
    ...(body === undefined ? {} : { body }),
  })

async function addApp(acting: Acting) {
  const { host, who, chosen } = acting
  const begun = await sendTo(acting, 'POST', '/mfa/totp', { currentPassword: who.password })
  const secret = textOf(begun.json(), 'secret')
  const body = { code: codeOf(host, secret), ...chosen }
  const reply = await sendTo(acting, 'POST', '/mfa/totp/confirm', body)
  return { reply, secret }
}

async function addPasskey(acting: Acting) {
  const { host, surface, who, chosen } = acting
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  const given = { bearer: who.bearer, currentPassword: who.password }
  const begun = await passkeysOn(host, surface).startRegistration(given)
  const { challengeId, options } = JSON.parse(begun.text)
  const body = { challengeId, response: authenticator.create(options), ...chosen }
  return {
    reply: await sendTo(acting, 'POST', '/webauthn/registration/verify', body),
    authenticator,
  }
}

/** Adds an app without ending anything, and shows a code of it. */
async function withApp(acting: Acting): Promise<void> {
  const { reply } = await addApp({ ...acting, chosen: { endOtherSessions: false } })
  const [code] = reply.json()['backupCodes'] as string[]
  const proof = { method: 'backupCode', code }
  expect(outcomeOf(await sendTo(acting, 'POST', '/step-up', proof))).toBe('200')
}

interface Change {
  readonly usual: 'end' | 'go on'
  readonly lead?: (acting: Acting) => Promise<unknown>
  readonly act: (acting: Acting) => Promise<string>
}

const changes: Readonly<Record<string, Change>> = {
  'a first app': { usual: 'end', act: async (acting) => outcomeOf((await addApp(acting)).reply) },
  'a first passkey': {
    usual: 'end',
    act: async (acting) => outcomeOf((await addPasskey(acting)).reply),
  },
  'a passkey beside an app': {
    usual: 'go on',
    lead: withApp,
    act: async (acting) => outcomeOf((await addPasskey(acting)).reply),
  },
  'the app removed': {
    usual: 'end',
    lead: withApp,
    act: async (acting) => outcomeOf(await sendTo(acting, 'DELETE', '/mfa/totp', acting.chosen)),
  },
  'a passkey removed': {
    usual: 'end',
    async lead(acting) {
      const on = passkeysOn(acting.host, acting.surface)
      const { authenticator } = await addPasskey({
        ...acting,
        chosen: { endOtherSessions: false },
      })
      await on.stepUp(acting.who.bearer, authenticator)
    },
    async act(acting) {
      const listed = await passkeysOn(acting.host, acting.surface).list(acting.who.bearer)
      const [{ credentialId }] = JSON.parse(listed.text).items
      const path = `/webauthn/credentials/${credentialId}`
      return outcomeOf(await sendTo(acting, 'DELETE', path, acting.chosen))
    },
  },
  'new backup codes': {
    usual: 'go on',
    lead: withApp,
    act: async (acting) =>
      outcomeOf(await sendTo(acting, 'POST', '/mfa/backup-codes', acting.chosen)),
  },
}

const choices: readonly (readonly [string, Acting['chosen']])[] = [
  ['left out', {}],
  ['true', { endOtherSessions: true }],
  ['false', { endOtherSessions: false }],
]

const cases = Object.entries(changes).flatMap(([name, change]) =>
  choices.map(([choice, chosen]) => ({ name, change, choice, chosen })),
)

eachSampleStore.describe('other sessions', (kind) => {
  it.each(cases)(
    '$name, endOtherSessions $choice',
    async ({ change, chosen }: (typeof cases)[number]) => {
      const host = await openHost(withoutLimits, kind)
      for (const surface of surfaces) {
        const someone = await person(host, surface)
        const who = { ...someone, ...(await signIn(host, surface, someone)) }
        const other = await signIn(host, surface, someone)
        const acting = { host, surface, who, chosen }
        await change.lead?.(acting)
        expect(await change.act(acting)).toMatch(/^20[014]/)
        const ends = chosen.endOtherSessions ?? change.usual === 'end'
        const at = (path: string): string => `/v1/auth/${surface}${path}`
        const uses = async ({ bearer, cookie }: SignedIn) => [
          outcomeOf(await host.send('GET', at('/me'), { bearer })),
          outcomeOf(await host.send('POST', at('/refresh-cookie'), { cookie })),
        ]
        expect(await uses(who)).toEqual(['200', '200'])
        const dead = ['401 session_revoked', '401 session_revoked']
        expect(await uses(other)).toEqual(ends ? dead : ['200', '200'])
        const ended = eventsOf(host, 'session.terminated').filter(
          ({ userId }) => userId === someone.id,
        )
        expect(ended.map(({ reason, actorId }) => [reason, actorId])).toEqual(
          ends ? [['factor_change', someone.id]] : [],
        )
      }
    },
  )
})

eachSurface.describe('a factor enrolled on the way in', (surface) => {
  it.each([
    [{}, '401 session_revoked'],
    [{ endOtherSessions: false }, '200'],
  ])('ends the sessions of before: %j', async (chosen, after) => {
    const settings = { mfaPolicyOperator: 'optional', mfaPolicyClient: 'optional' } as const
    const host = await openHost({ ...withoutLimits, settings })
    const who = await person(host, surface)
    const before = await signIn(host, surface, who)
    const { environments } = (
      await import('../../../src/model/configuration.js')
    ).moduleCollectionsOf(host.backend.store, '')
    const values = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' }
    await environments.update('auth/production', { revision: 1 }, { values, revision: 2 })
    await host.clock.advance(30_000)
    const mfaToken = textOf((await passwordLogin(host, surface, who)).json(), 'mfaToken')
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    const begun = await host.send('POST', at('/mfa/totp'), { body: { mfaToken } })
    const code = codeOf(host, textOf(begun.json(), 'secret'))
    const body = { mfaToken, code, ...chosen }
    const done = await host.send('POST', at('/mfa/totp/confirm'), { body })
    expect(outcomeOf(done)).toBe('200')
    const me = (bearer: string) => host.send('GET', at('/me'), { bearer })
    expect(outcomeOf(await me(textOf(done.json(), 'accessToken')))).toBe('200')
    expect(outcomeOf(await me(before.bearer))).toBe(after)
  })
})

it('a crash before the sessions are ended leaves none of the others to be refreshed', async () => {
  let isAway = false
  const host = await openHost({
    ...withoutLimits,
    wrapBackend: (backend) =>
      withCall(backend, async (name, work) => {
        if (isAway && name === 'denylist.put') throw new Error('away')
        return work()
      }),
  })
  const someone = await person(host, 'client')
  const who = { ...someone, ...(await signIn(host, 'client', someone)) }
  const other = await signIn(host, 'client', someone)
  isAway = true
  const { reply, secret } = await addApp({ host, surface: 'client', who, chosen: {} })
  expect(reply.status).toBe(503)
  isAway = false
  const refresh = async ({ cookie }: SignedIn) =>
    outcomeOf(await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie }))
  expect([await refresh(who), await refresh(other)]).toEqual(['200', '401 session_revoked'])
  // The factor counts: it was stored before.
  const mfaToken = await ticketOf(host, 'client', someone)
  await host.clock.advance(30_000)
  expect(outcomeOf(await finish(host, 'client', mfaToken, codeOf(host, secret)))).toBe('200')
})
