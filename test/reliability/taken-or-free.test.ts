import { expect, it } from 'vitest'
import type { ExchangeReply } from '../../src/http/http-message.js'
import type { Surface } from '../../src/ports/surface.js'
import { eachSurface } from '../support/hosts/matrix.js'
import { storedIn } from '../support/hosts/open-host.js'
import type { TestAuth } from '../support/hosts/test-auth.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { goodPassword, otherPassword } from '../support/people/people.js'
import { figure } from './figures.js'
import { type RefusalRig, refusalRig, rigSettings } from './refusal-rig.js'
import type { Refusal, Refusals } from './refusals.js'

/** Addresses of every state; the first one belongs to no account. */
const states = ['free', 'taken', 'unproved', 'disabled', 'linked', 'machine'] as const
const emailOf = (state: string) => `${state}@example.org`

async function people(host: TestAuth, surface: Surface): Promise<void> {
  const { users } = host.auth[surface]
  const make = (state: string, given: object = {}) =>
    users.create({ email: emailOf(state), password: goodPassword, emailVerified: true, ...given })
  await make('taken')
  await make('unproved', { emailVerified: false })
  const { id } = await make('disabled')
  await users.update(id, { enabled: false })
  await users.create({ email: emailOf('linked'), emailVerified: true })
  const stored = storedIn(host, surface).users
  const [owner] = await stored.find({ email: emailOf('taken') }, { limit: 1 })
  if (owner === undefined) throw new Error('just made')
  const machine = '01940000-0000-7000-8000-000000000001'
  await stored.insert({ ...owner, id: machine, email: emailOf('machine'), kind: 'service' })
}

/** The doors that name an address, and must not tell whether it has an account. */
const doors: Readonly<Record<string, (surface: Surface, email: string) => Refusal>> = {
  registration: (surface, email) => ({
    path: `/v1/auth/${surface}/register`,
    body: { email, password: otherPassword, name: 'Ada' },
  }),
  'a forgotten password': (surface, email) => ({
    path: `/v1/auth/${surface}/password/forgot`,
    body: { email },
  }),
  'a confirmation link asked for again': (surface, email) => ({
    path: `/v1/auth/${surface}/email/verify/resend`,
    body: { email },
  }),
}

const settings = {
  ...rigSettings,
  registrationOperatorEnabled: true,
  registrationClientEnabled: true,
  webauthnMode: 'passwordless',
} as const
const options = { ...withoutLimits, settings }

const machines = [
  { store: 1, hash: 40 },
  { store: 40, hash: 25 },
] as const

function textOf(body: string | null, name: string): string {
  return String(JSON.parse(body ?? '{}')[name])
}

/** All that a caller can see, but for what is new each time. */
function shapeOf({ status, headers, cookies, body }: ExchangeReply): unknown {
  const names = cookies.map((cookie) => cookie.replace(/=[^;]*/, '=…').replace(/Expires=[^;]*/, ''))
  const shown = body?.replaceAll(/[\w-]{22,}/g, '…')
  return { status, headers: Object.entries(headers), names, shown }
}

const hashes = (calls: readonly string[]) => calls.filter((call) => /^(verify|hash)/.test(call))

async function rigOf(surface: Surface, door: (surface: Surface, email: string) => Refusal) {
  const prepare = async (host: TestAuth): Promise<Refusals> => {
    await people(host, surface)
    return Object.fromEntries(states.map((state) => [state, door(surface, emailOf(state))]))
  }
  const rig = await refusalRig(surface, prepare, { options })
  // Settings are read by the first request in a while.
  await rig.send(door(surface, 'somebody@example.org'))
  return rig
}

eachSurface.describe('figure R21: whether an address is taken', (surface) => {
  it.each(Object.entries(doors))(
    '%s tells it by no call, no hash, no time and no byte',
    async (name, door) => {
      for (const latencies of machines) {
        const rig = await rigOf(surface, door)
        rig.work.slowDown(latencies)
        const wanted = await rig.send(rig.refusals['free'] ?? door(surface, ''))
        expect(wanted.reply.status).toBeLessThan(300)
        for (const state of states.slice(1)) {
          const got = await rig.send(rig.refusals[state] ?? door(surface, ''))
          expect([state, shapeOf(got.reply)]).toEqual([state, shapeOf(wanted.reply)])
          expect([state, latencies, got.took]).toEqual([state, latencies, wanted.took])
          expect([state, hashes(got.calls)]).toEqual([state, hashes(wanted.calls)])
          expect([state, [...got.calls].sort()]).toEqual([state, [...wanted.calls].sort()])
        }
      }
      figure(
        'R21',
        `${name} on the ${surface} surface`,
        `${states.length} addresses: the same calls, 0 ms apart`,
      )
    },
  )

  it('a change of address tells it by no call, no hash, no time and no byte', async () => {
    const asker = { email: 'asker@example.org', password: goodPassword }
    const rig = await refusalRig(
      surface,
      async (host) => {
        await people(host, surface)
        await host.auth[surface].users.create({ ...asker, emailVerified: true })
        return {}
      },
      { options },
    )
    const { reply } = await rig.send({ path: `/v1/auth/${surface}/login`, body: asker })
    const bearer = textOf(reply.body, 'accessToken')
    rig.work.slowDown({ store: 40, hash: 25 })
    const change = (state: string) =>
      rig.send({
        path: `/v1/auth/${surface}/me/email`,
        body: { newEmail: emailOf(state), currentPassword: goodPassword },
        bearer,
      })
    // A first link is made, and later ones replace it.
    await change('first')
    const wanted = await change('free')
    expect(wanted.reply.status).toBe(202)
    for (const state of states.slice(1)) {
      const got = await change(state)
      expect([state, shapeOf(got.reply)]).toEqual([state, shapeOf(wanted.reply)])
      expect([state, got.took]).toEqual([state, wanted.took])
      expect([state, [...got.calls].sort()]).toEqual([state, [...wanted.calls].sort()])
    }
  })

  it('a passkey login begins without a look at any account', async () => {
    const rig: RefusalRig = await rigOf(surface, () => ({
      path: `/v1/auth/${surface}/webauthn/login/options`,
      body: {},
    }))
    const { reply, calls } = await rig.send(rig.refusals['free'] ?? { path: '', body: {} })
    expect(reply.status).toBe(200)
    expect(calls.filter((call) => /users|passkeys\./.test(call))).toEqual([])
  })
})
