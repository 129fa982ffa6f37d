import { describe, expect, it } from 'vitest'
import { createLoginTickets } from '../../src/domain/login-tickets.js'
import { factorRig } from './factor-rig.js'

const facts = {
  userId: '01940000-0000-7000-8000-00000000000a',
  purpose: 'secondFactor',
  loginMethod: 'password',
  amr: ['pwd'],
  delivery: 'cookie',
  sessionEpoch: 1,
  credentialEpoch: 1,
  deviceEpoch: 1,
} as const
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
    const ticket = await tickets.read(mfaToken, 'secondFactor')
    expect(ticket).toMatchObject(facts)
    expect(await collections.loginTickets.get(mfaToken)).toBeNull()
    await clock.advance(300_000 - 1)
    await tickets.read(mfaToken, 'secondFactor')
    await clock.advance(1)
    await expect(tickets.read(mfaToken, 'secondFactor')).rejects.toMatchObject(invalid)
  })

  it('MF-2 MF-3 is good for its purpose and no other', async () => {
    const { tickets } = ticketsOf()
    const { mfaToken } = await tickets.issue(facts)
    await expect(tickets.read(mfaToken, 'enrollment')).rejects.toMatchObject(invalid)
    await expect(tickets.read('x'.repeat(43), 'secondFactor')).rejects.toMatchObject(invalid)
  })

  it('S-27 R8 counts guesses before they are checked: 200 at once are at most five', async () => {
    const { tickets } = ticketsOf()
    const { mfaToken } = await tickets.issue(facts)
    const ticket = await tickets.read(mfaToken, 'secondFactor')
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
      const ticket = await tickets.read(mfaToken, 'secondFactor')
      const takes = await Promise.all(Array.from({ length: 16 }, () => tickets.take(ticket)))
      expect(takes.filter(Boolean)).toHaveLength(1)
    }
  })
})
