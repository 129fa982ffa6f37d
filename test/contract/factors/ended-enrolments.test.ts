import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { codeOf, passwordLogin } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import {
  otherPassword,
  type Person,
  refreshByCookie,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'

const revoked = '401 session_revoked'
const sessionOf = ({ refreshToken }: SignedIn) => textOf(decodeJwt(refreshToken), 'sid')

eachSurface.describe('a factor enrolled in a session that ends', (surface) => {
  const base = `/v1/auth/${surface}`

  /** A host on which something happens right before or after the first such call of the store from then on. */
  async function interrupted() {
    const acts = new Map<string, () => Promise<unknown>>()
    const act = async (moment: string) => {
      const due = acts.get(moment)
      acts.delete(moment)
      await due?.()
    }
    const host = await openHost({
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          await act(`before ${called}`)
          const result = await work()
          await act(`after ${called}`)
          return result
        }),
    })
    return { host, at: (moment: string, due: () => Promise<unknown>) => acts.set(moment, due) }
  }

  /** The last step of an enrolment, once the first was taken in the session. */
  type Confirm = () => Promise<string>

  const kinds = {
    async app(host: ContractHost, { bearer, password }: Person & SignedIn): Promise<Confirm> {
      const body = { currentPassword: password }
      const begun = await host.send('POST', `${base}/mfa/totp`, { bearer, body })
      const code = codeOf(host, textOf(begun.json(), 'secret'))
      return async () =>
        outcomeOf(await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body: { code } }))
    },
    async passkey(host: ContractHost, { bearer, password }: Person & SignedIn): Promise<Confirm> {
      const on = passkeysOn(host, surface)
      const begun = await on.startRegistration({ bearer, currentPassword: password })
      const { challengeId, options } = JSON.parse(begun.text)
      const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
      return async () => outcomeOf(await on.finishRegistration({ bearer }, challengeId, response))
    },
  }

  async function factorsOf(host: ContractHost, { id }: Person): Promise<number> {
    const { totpFactors, passkeys } = storedIn(host, surface)
    const app = (await totpFactors.get(id))?.confirmed === true ? 1 : 0
    return app + (await passkeys.find({ userId: id }, { limit: 9 })).length
  }

  describe.each(['app', 'passkey'] as const)('%s', (kind) => {
    // The last write of the store that each kind makes before it is settled.
    const stored = kind === 'app' ? 'totp_factors.update' : 'passkeys.insert'

    it.each([
      ['the claim', 'before', 'users.update'],
      ['the factor is stored', 'before', stored],
      ['the factor was stored', 'after', stored],
    ] as const)('is taken back where its session is ended alone: %s', async (_, when, call) => {
      const { host, at } = await interrupted()
      const thief = await signedInPerson(host, surface)
      const confirm = await kinds[kind](host, thief)
      const ended: boolean[] = []
      at(`${when} ${surface}_${call}`, async () => {
        ended.push(await host.auth[surface].terminateSession(sessionOf(thief)))
      })
      expect([await confirm(), ended]).toEqual([revoked, [true]])
      expect(await factorsOf(host, thief)).toBe(0)
      expect(eventsOf(host, 'mfa.changed')).toEqual([])
      const login = await passwordLogin(host, surface, thief)
      expect(login.json()['status']).toBe('authenticated')
    })

    it('ends no other session where its own has ended before', async () => {
      const { host, at } = await interrupted()
      const thief = await signedInPerson(host, surface)
      const confirm = await kinds[kind](host, thief)
      const owner = await signIn(host, surface, thief)
      // Read for the question whether it is the first factor, once the request is let in.
      at(`before ${surface}_backup_codes.get`, () =>
        host.auth[surface].terminateSession(sessionOf(thief)),
      )
      expect(await confirm()).toBe(revoked)
      expect(await factorsOf(host, thief)).toBe(0)
      expect(outcomeOf(await refreshByCookie(host, surface, owner.refreshToken))).toBe('200')
    })

    it('is refused in a session that an ending of all sessions has yet to reach', async () => {
      const { host, at } = await interrupted()
      const thief = await signedInPerson(host, surface)
      // As somebody who signs in by a provider: no password is asked for within minutes of the login.
      const { users } = storedIn(host, surface)
      await users.update(thief.id, { enabled: true }, { passwordHash: null })
      const outcomes: string[] = []
      at(`after ${surface}_users.update`, async () => {
        outcomes.push(await (await kinds[kind](host, thief))())
      })
      await host.auth[surface].terminateSessionsOf(thief.id)
      expect(outcomes).toEqual([revoked])
      expect(await factorsOf(host, thief)).toBe(0)
    })

    it('is taken back where the reset of the owner comes between, which has it say that it stands', async () => {
      const { host, at } = await interrupted()
      const thief = await signedInPerson(host, surface)
      const confirm = await kinds[kind](host, thief)
      const link = await linkFor(host, surface, thief.email)
      const outcomes: string[] = []
      // After the claim, and after it is settled.
      at(`after ${surface}_users.update`, async () => {
        at(`after ${surface}_users.update`, async () => {
          outcomes.push(outcomeOf(await reset(host, surface, link, otherPassword)))
        })
      })
      expect([await confirm(), outcomes]).toEqual([revoked, ['204']])
      expect(await factorsOf(host, thief)).toBe(0)
    })

    it('is taken back where another enrolment has it say that it stands', async () => {
      const { host, at } = await interrupted()
      const thief = await signedInPerson(host, surface)
      const confirm = await kinds[kind](host, thief)
      const { totpFactors, passkeys } = storedIn(host, surface)
      const own = kind === 'app' ? totpFactors : passkeys
      // After the claim, and after it is settled.
      at(`after ${surface}_users.update`, async () => {
        at(`after ${surface}_users.update`, async () => {
          const [passkey] = await passkeys.find({ userId: thief.id }, { limit: 1 })
          const factor = kind === 'app' ? await totpFactors.get(thief.id) : passkey
          const { id = '', enrollmentId = null } = factor ?? {}
          // As the claim of another enrolment leaves it.
          const marked = { enrollmentId: `${enrollmentId} stored` }
          expect(await own.update(id, { enrollmentId }, marked)).not.toBeNull()
          await host.auth[surface].terminateSessionsOf(thief.id)
        })
      })
      expect(await confirm()).toBe(revoked)
      expect(await factorsOf(host, thief)).toBe(0)
    })

    it('is refused in a session that an interrupted ending left on the denylist alone', async () => {
      const { host, at } = await interrupted()
      const thief = await signedInPerson(host, surface)
      const confirm = await kinds[kind](host, thief)
      at(`before ${surface}_backup_codes.get`, async () => {
        at(`before ${surface}_refresh_tokens.update`, async () => {
          throw new Error('the process died')
        })
        await host.auth[surface].terminateSession(sessionOf(thief)).catch(() => {})
      })
      expect(await confirm()).toBe(revoked)
      expect(await factorsOf(host, thief)).toBe(0)
    })
  })
})
