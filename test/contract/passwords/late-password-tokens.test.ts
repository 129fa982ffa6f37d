import { expect, it } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { otherPassword, signedInPerson } from '../../support/people/people.js'
import { linkFor, login, reset } from '../../support/people/recovery-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'

const day = 24 * 60 * 60 * 1000

eachSurface.describe('the token for a password that is too old', (surface) => {
  it('a stranger that replaces a password that is too old leaves the links of the owner alone', async () => {
    const host = await openHost({
      settings: { passwordMaxAge: '30d', emailVerificationRequired: false },
    })
    const stranger = await signedInPerson(host, surface)
    const { users } = storedIn(host, surface)
    const { id, email, password } = stranger
    await users.update(id, { enabled: true }, { emailVerifiedAt: null })
    await host.clock.advance(30 * day + 1)
    const link = await linkFor(host, surface, email)
    const old = await login(host, surface, email, password)
    const token = textOf(old.json(), 'passwordToken')
    expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('204')
    const ofOwner = 'quite another passphrase'
    expect(outcomeOf(await reset(host, surface, link, ofOwner))).toBe('204')
    expect(outcomeOf(await login(host, surface, email, ofOwner))).toBe('200')
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe(
      '401 invalid_credentials',
    )
  })

  it.each(['all sessions are ended', 'the factors are reset'])(
    'changes nothing where %s while the new one is hashed',
    async (how) => {
      const late: (() => Promise<unknown>)[] = []
      const host = await openHost({
        settings: { passwordMaxAge: '30d' },
        wrapBackend: (backend) =>
          withCall(backend, async (called, work) => {
            if (called === `${surface}_users.update`) await late.pop()?.()
            return work()
          }),
      })
      const who = await signedInPerson(host, surface)
      const { users } = storedIn(host, surface)
      await host.clock.advance(30 * day + 1)
      const old = await login(host, surface, who.email, who.password)
      const token = textOf(old.json(), 'passwordToken')
      const before = await users.get(who.id)
      late.push(async () => {
        if (how === 'all sessions are ended') await host.auth[surface].terminateSessionsOf(who.id)
        else await host.auth[surface].users.resetMfa(who.id)
      })
      expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('400 invalid_token')
      expect(late).toEqual([])
      const now = await users.get(who.id)
      expect(now?.passwordHash).toBe(before?.passwordHash)
    },
  )
})
