import assert from 'node:assert/strict'
import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf, storedIn, storedUser } from '../../support/hosts/open-host.js'
import { type Enrolled, enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import {
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import type { SignedIn } from '../../support/people/people.js'
import { mortalHost } from './mortal-host.js'

interface Stage {
  readonly host: ContractHost
  readonly surface: Surface
  readonly who: Enrolled
  readonly authenticator: SoftwareAuthenticator
  readonly credentialId: string
}

interface Change {
  readonly send: (stage: Stage) => Promise<string>
  /** Whether the change has been made. */
  readonly isMade: (stage: Stage) => Promise<boolean>
}

const changes: Readonly<Record<string, Change>> = {
  'the removal of an app': {
    send: async ({ host, surface, who: { bearer } }) =>
      outcomeOf(await host.send('DELETE', `/v1/auth/${surface}/mfa/totp`, { bearer })),
    isMade: async ({ host, surface, who }) =>
      (await storedIn(host, surface).totpFactors.get(who.id)) === null,
  },
  'the removal of a passkey': {
    send: async ({ host, surface, who, credentialId }) =>
      outcomeOf(await passkeysOn(host, surface).remove(who.bearer, credentialId)),
    isMade: async ({ host, surface, credentialId }) =>
      (await storedIn(host, surface).passkeys.get(credentialId)) === null,
  },
  'the replacement of backup codes': {
    send: async ({ host, surface, who: { bearer } }) => {
      const path = `/v1/auth/${surface}/mfa/backup-codes`
      return outcomeOf(await host.send('POST', path, { bearer, body: { endOtherSessions: true } }))
    },
    isMade: async ({ host, surface, who }) => {
      const set = await storedIn(host, surface).backupCodes.get(who.id)
      return set?.usedMask === 0
    },
  },
}

async function stepUp({ host, surface, who, authenticator }: Stage): Promise<void> {
  const reply = await passkeysOn(host, surface).stepUp(who.bearer, authenticator)
  if (reply.status === 200) return
  const body = { method: 'totp', code: await who.nextCode() }
  const path = `/v1/auth/${surface}/step-up`
  const typed = await host.send('POST', path, { bearer: who.bearer, body })
  assert.equal(typed.status, 200, typed.text)
}

/** A user with an app, a passkey, a used backup code, a proof and another session. */
async function staged(host: ContractHost, surface: Surface) {
  const who = await enrolled(host, surface)
  const at = (path: string) => `/v1/auth/${surface}${path}`
  const proof = { method: 'backupCode', code: who.backupCodes[0] }
  const proved = await host.send('POST', at('/step-up'), { bearer: who.bearer, body: proof })
  assert.equal(proved.status, 200, proved.text)
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  const made = await passkeysOn(host, surface).register({ bearer: who.bearer }, authenticator)
  assert.equal(made.status, 201, made.text)
  const credentialId = String(made.json()['credentialId'])
  const mfaToken = await ticketOf(host, surface, who)
  const code = await who.nextCode()
  const login = await finish(host, surface, mfaToken, code)
  assert.equal(login.status, 200, login.text)
  const other = { cookie: login.setCookies[0]?.split(';')[0] ?? '' }
  const stage: Stage = { host, surface, who, authenticator, credentialId }
  await stepUp(stage)
  return { stage, other }
}

async function refreshes(
  { host, surface }: Stage,
  { cookie }: Pick<SignedIn, 'cookie'>,
): Promise<string> {
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie }))
}

eachSurface.describe('a change of factors that dies on the way', (surface) => {
  it.each(Object.entries(changes))(
    '%s leaves nothing that was granted before, and the next one completes',
    async (_name, change) => {
      const { host, diesAfter, isBack } = await mortalHost()
      let outcome = ''
      let cutOff = 0
      for (let calls = 0; outcome !== '204' && outcome !== '201'; calls += 1) {
        assert.ok(calls < 100, outcome)
        const { stage, other } = await staged(host, surface)
        const { email } = stage.who
        const before = await storedUser(host, surface, email)
        // What goes on beside the requests so far.
        await host.auth.close()
        diesAfter(calls)
        outcome = await change.send(stage)
        await host.auth.close()
        isBack()
        if (outcome === '204' || outcome === '201') break
        cutOff += 1
        expect(outcome).toMatch(/^503 /)
        const after = await storedUser(host, surface, email)
        if (await change.isMade(stage)) {
          expect([calls, after.deviceEpoch > before.deviceEpoch]).toEqual([calls, true])
          expect([calls, await refreshes(stage, other)]).toEqual([calls, '401 session_revoked'])
        } else {
          await stepUp(stage)
          expect(await change.send(stage)).toMatch(/^20[14]$/)
          expect(await refreshes(stage, other)).toBe('401 session_revoked')
        }
      }
      expect(cutOff).toBeGreaterThan(5)
    },
    60_000,
  )
})
