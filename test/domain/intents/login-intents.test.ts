import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/crypto/secrets.js'
import { createLoginTickets } from '../../../src/domain/intents/login-intents.js'
import { factorRig } from '../factors/factor-rig.js'

const facts = {
  userId: '01940000-0000-7000-8000-00000000000a',
  purpose: 'secondFactor',
  loginMethod: 'password',
  amr: ['pwd'],
  delivery: 'cookie',
  browserHash: '',
  identityId: '',
  oauthCodeId: '',
  sessionEpoch: 1,
  credentialEpoch: 1,
  deviceEpoch: 1,
} as const
const browserKeys = { query: null, form_post: null }
const unknown = { mfaToken: 'x'.repeat(43) }
const invalid = { code: 'mfa_ticket_invalid' }

function ticketsOf() {
  const rig = factorRig()
  return { ...rig, tickets: createLoginTickets(rig) }
}

describe('a half-finished login', () => {
  it('G-14 is held by a token of 256 random bits that is stored as a digest, for five minutes', async () => {
    const { tickets, clock, collections } = ticketsOf()
    const { mfaToken, expiresIn } = await tickets.issue(facts)
    expect([mfaToken.length, expiresIn]).toEqual([43, 300])
    const ticket = await tickets.read({ mfaToken, browserKeys }, 'secondFactor')
    expect(ticket).toMatchObject(facts)
    expect(await collections.loginTickets.get(mfaToken)).toBeNull()
    await clock.advance(300_000 - 1)
    await tickets.read({ mfaToken, browserKeys }, 'secondFactor')
    await clock.advance(1)
    await expect(tickets.read({ mfaToken, browserKeys }, 'secondFactor')).rejects.toMatchObject(
      invalid,
    )
  })

  it('MF-2 MF-3 is good for its purpose and no other', async () => {
    const { tickets } = ticketsOf()
    const { mfaToken } = await tickets.issue(facts)
    await expect(tickets.read({ mfaToken, browserKeys }, 'enrollment')).rejects.toMatchObject(
      invalid,
    )
    await expect(tickets.read({ ...unknown, browserKeys }, 'secondFactor')).rejects.toMatchObject(
      invalid,
    )
  })

  it('T-88 of a browser is good with its key, by a link or by a form, and with no other', async () => {
    const { tickets } = ticketsOf()
    const key = 'k'.repeat(43)
    const { mfaToken } = await tickets.issue({ ...facts, browserHash: sha256(key) })
    const read = (query: string | null, form_post: string | null) =>
      tickets.read({ mfaToken, browserKeys: { query, form_post } }, 'secondFactor')
    for (const other of [null, '', 'o'.repeat(43), sha256(key)]) {
      await expect(read(other, null)).rejects.toMatchObject(invalid)
      await expect(read(null, other)).rejects.toMatchObject(invalid)
      await read(key, other)
      await read(other, key)
    }
  })

  it('S-27 R8 counts guesses before they are checked: 200 at once are at most five', async () => {
    const { tickets } = ticketsOf()
    const { mfaToken } = await tickets.issue(facts)
    const ticket = await tickets.read({ mfaToken, browserKeys }, 'secondFactor')
    const guesses = Array.from({ length: 200 }, () => tickets.countGuess(ticket, 5))
    const outcomes = await Promise.allSettled(guesses)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    await tickets.forgive(ticket)
    await tickets.countGuess(ticket, 5)
    await expect(tickets.countGuess(ticket, 5)).rejects.toMatchObject(invalid)
  })

  it('R7 MF-16 of sixteen who spend it at once, one does', async () => {
    const { tickets } = ticketsOf()
    for (let round = 0; round < 25; round += 1) {
      const { mfaToken } = await tickets.issue(facts)
      const ticket = await tickets.read({ mfaToken, browserKeys }, 'secondFactor')
      const takes = await Promise.all(Array.from({ length: 16 }, () => tickets.take(ticket)))
      expect(takes.filter(Boolean)).toHaveLength(1)
    }
  })
})
