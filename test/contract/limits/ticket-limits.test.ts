import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { ticketOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { person } from '../../support/people/people.js'

const limited = '429 rate_limited'

async function times(count: number, work: () => Promise<string>): Promise<string[]> {
  const outcomes: string[] = []
  for (let index = 0; index < count; index += 1) outcomes.push(await work())
  return outcomes
}

eachSurface.describe('tickets', (surface) => {
  it('ten beginnings of a ceremony use up their ticket, and not the owner’s second factor', async () => {
    const host = await openHostAtOneAddress()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    // Another person knows the password, and makes no guess at the second factor.
    const theirs = await ticketOf(host, surface, who)
    const begun = await times(11, async () => outcomeOf(await on.startLogin(theirs)))
    expect(begun).toEqual([...Array<string>(10).fill('200'), limited])
    const own = await ticketOf(host, surface, who)
    expect(outcomeOf(await on.login(who.authenticator, own))).toBe('200')
  })

  it('a ticket for a first factor begins ten enrolments', async () => {
    const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await openHostAtOneAddress({ settings: policy })
    const who = await person(host, surface)
    const { email, password } = who
    const login = () =>
      host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
    const begin = async (mfaToken: unknown) =>
      outcomeOf(await host.send('POST', `/v1/auth/${surface}/mfa/totp`, { body: { mfaToken } }))
    const theirs = (await login()).json()['mfaToken']
    const begun = await times(11, () => begin(theirs))
    expect(begun).toEqual([...Array<string>(10).fill('201'), limited])
    expect(await begin((await login()).json()['mfaToken'])).toBe('201')
  })

  it('guesses count for the account, by whatever ticket', async () => {
    const host = await openHostAtOneAddress({
      settings: { lockoutThreshold: 0, mfaMaxAttempts: 10 },
    })
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const theirs = await ticketOf(host, surface, who)
    const { challengeId, options } = await on.begunLogin(theirs)
    const wrong = who.authenticator.get(options, { otherKey: true })
    await times(9, async () => outcomeOf(await on.finishLogin(challengeId, wrong, theirs)))
    const own = await ticketOf(host, surface, who)
    const next = await on.begunLogin(own)
    const guess = who.authenticator.get(next.options, { otherKey: true })
    const outcomes = await times(2, async () =>
      outcomeOf(await on.finishLogin(next.challengeId, guess, own)),
    )
    expect(outcomes).toEqual(['401 invalid_credentials', limited])
  })
})
