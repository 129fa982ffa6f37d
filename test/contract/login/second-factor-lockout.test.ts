import { expect, it } from 'vitest'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, finish, ticketOf } from '../../support/people/authenticator.js'

const limited = '429 rate_limited'
const wrong = '401 invalid_mfa_code'
const parallel = Array.from({ length: 200 }, (_, index) => index)

/** Wrong for anybody: no authenticator shows seven digits, and 45 random bits are not all zero. */
const guessed = { totp: '1234567', backupCode: '00000-00000' } as const

eachHost.describe('guesses at a second factor', (kind) => {
  // Counting is the store's affair: one surface shows it of each.
  eachSurface.describe((surface) => {
    it.each(['totp', 'backupCode'] as const)(
      'of 200 parallel guesses at a %s ten are looked at, and the right one is late',
      async (method) => {
        const hasher = countingHasher(argon2Hasher())
        const hash = { ...cheapHash, implementation: hasher }
        const host = await openHostAtOneAddress({ ...withoutLimits, hash }, kind)
        const who = await enrolled(host, surface)
        const verified = hasher.verified.length
        const right = { totp: await who.nextCode(), backupCode: who.backupCodes[0] ?? '' }[method]
        const shows = async (code: string) =>
          outcomeOf(
            await host.send('POST', `/v1/auth/${surface}/step-up`, {
              bearer: who.bearer,
              body: { method, code },
            }),
          )
        const outcomes = await Promise.all(parallel.map(() => shows(guessed[method])))
        expect(outcomes.filter((outcome) => outcome === wrong)).toHaveLength(10)
        const late = outcomes.filter((outcome) => outcome !== wrong)
        expect(late).toHaveLength(190)
        // The tenth ends the session, and some come in after that.
        expect([limited, '401 session_revoked']).toEqual(expect.arrayContaining(late))
        // Of a backup code, each guess costs a hash; of a code of the app, none.
        const hashes = method === 'backupCode' ? 10 : 0
        expect(hasher.verified.length - verified).toBe(hashes)
        expect(await shows(right)).toBe('401 session_revoked')
      },
    )

    it('of 200 parallel guesses at one ticket five are looked at', async () => {
      const host = await openHostAtOneAddress(
        { ...withoutLimits, settings: { lockoutThreshold: 0 } },
        kind,
      )
      const who = await enrolled(host, surface)
      const mfaToken = await ticketOf(host, surface, who)
      const guess = async () => outcomeOf(await finish(host, surface, mfaToken, guessed.totp))
      const outcomes = await Promise.all(parallel.map(guess))
      const looked = outcomes.filter((outcome) => outcome === wrong).length
      expect(looked).toBeLessThanOrEqual(4)
      expect(outcomes.filter((outcome) => outcome !== wrong)).toEqual(
        Array<string>(200 - looked).fill('401 mfa_ticket_invalid'),
      )
      const late = await finish(host, surface, mfaToken, await who.nextCode())
      expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
    })
  })
})
