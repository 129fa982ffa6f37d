import { expect, it } from 'vitest'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import type { PasswordHasher } from '../../../src/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { InitialSettings } from '../../../src/settings/settings.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { otherPassword, person, signedInPerson, signIn } from '../../support/people/people.js'

const busy = '503 server_busy'
/** Of the 57 that wait; some are let go while the owner's request is on its way to the gate. */
const soon = 12
const flooders = 'a guess of the flood'

/** Once held, each verification waits until it is let go, the earliest first. */
function heldHasher() {
  const inner = argon2Hasher()
  const begun: string[] = []
  const held: (() => void)[] = []
  let isHeld = false
  const implementation: PasswordHasher = {
    hash: (password, params, salt) => inner.hash(password, params, salt),
    async verify(phc, password) {
      if (isHeld) {
        begun.push(new TextDecoder().decode(password))
        await new Promise<void>((resolve) => held.push(resolve))
      }
      return inner.verify(phc, password)
    },
  }
  return {
    implementation,
    begun,
    hold: () => {
      isHeld = true
    },
    async letGo(isDone: () => boolean) {
      while (!isDone()) {
        held.shift()?.()
        await turn()
      }
      isHeld = false
      for (const free of held.splice(0)) free()
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn()
}

async function login(host: ContractHost, surface: Surface, body: object, from: string) {
  const headers = { 'x-forwarded-for': from }
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/login`, { body, headers }))
}

/** Every other one from another address of the same IPv6 network. */
const ofNetwork = (n: number): string => `2001:db8:0:9::${n + 1}`
/** Each from another network of the same site. */
const ofSite = (n: number): string => `2001:db8:0:${(n + 16).toString(16)}::1`
/** The same, of IPv4. */
const ofIpv4 = (n: number): string => `198.51.100.${n + 1}`

/** Ninety logins of one attacker, of which a gate of one place keeps 57. */
async function flooded(host: ContractHost, surface: Surface, from = ofNetwork) {
  const outcomes: string[] = []
  const ended = Array.from({ length: 90 }, async (_, n) => {
    const body = { email: `nobody-${n}@example.org`, password: flooders }
    outcomes.push(await login(host, surface, body, from(n)))
  })
  await until(() => outcomes.length === 33)
  expect(new Set(outcomes)).toEqual(new Set([busy]))
  return { outcomes, ended: Promise.all(ended) }
}

async function open(settings: InitialSettings = withoutLimits.settings) {
  const hasher = heldHasher()
  const hash = { ...cheapHash, implementation: hasher.implementation, concurrency: 1 }
  return { hasher, host: await openHost({ ...withoutLimits, settings, hash }) }
}

eachSurface.describe('a flood of logins from one network', (surface) => {
  const other: Surface = surface === 'operator' ? 'client' : 'operator'

  it.each<Surface>([surface, other])(
    'neither refuses nor holds up a login from elsewhere on the %s surface',
    async (where) => {
      const { hasher, host } = await open()
      const who = await person(host, where)
      hasher.hold()
      const flood = await flooded(host, surface)
      let outcome = ''
      const { email, password } = who
      const owner = login(host, where, { email, password }, '192.0.2.1').then((seen) => {
        outcome = seen
      })
      // One of the flood gave way, or the other surface has room of its own.
      if (where === surface) await until(() => flood.outcomes.length === 34 || outcome !== '')
      await hasher.letGo(() => outcome !== '')
      await owner
      await flood.ended
      expect(outcome).toBe('200')
      expect(hasher.begun.indexOf(password)).toBeLessThan(soon)
      expect(flood.outcomes.filter((seen) => seen === busy).length).toBeLessThanOrEqual(34)
    },
  )

  it.each([
    ['IPv6', ofSite],
    ['IPv4', ofIpv4],
  ])('from many networks of one site, of %s, holds up no login', async (_, from) => {
    const { hasher, host } = await open()
    const { email, password } = await person(host, surface)
    hasher.hold()
    const flood = await flooded(host, surface, from)
    let outcome = ''
    const owner = login(host, surface, { email, password }, '192.0.2.1').then((seen) => {
      outcome = seen
    })
    await until(() => flood.outcomes.length === 34 || outcome !== '')
    await hasher.letGo(() => outcome !== '')
    await owner
    await flood.ended
    expect(outcome).toBe('200')
    expect(hasher.begun.indexOf(password)).toBeLessThan(soon)
  })

  it('holds up no password change of a signed-in user, from the same network even', async () => {
    const { hasher, host } = await open()
    const who = await signedInPerson(host, surface)
    hasher.hold()
    const flood = await flooded(host, surface)
    let outcome = ''
    const body = { currentPassword: who.password, newPassword: otherPassword }
    const { bearer } = who
    const headers = { 'x-forwarded-for': '2001:db8:0:9::ffff' }
    const path = `/v1/auth/${surface}/me/password`
    const change = host.send('POST', path, { bearer, body, headers }).then((reply) => {
      outcome = outcomeOf(reply)
    })
    await until(() => flood.outcomes.length === 34 || outcome !== '')
    await hasher.letGo(() => outcome !== '')
    await change
    await flood.ended
    expect(outcome).toBe('204')
    expect(hasher.begun.indexOf(who.password)).toBeLessThan(soon)
  })

  it('of a session’s own requests, those that find no room do not end the session', async () => {
    // Or the session would end by its guesses.
    const { hasher, host } = await open({ ...withoutLimits.settings, lockoutThreshold: 0 })
    const { bearer, password: currentPassword } = await signedInPerson(host, surface)
    hasher.hold()
    const outcomes: string[] = []
    const body = { currentPassword, newPassword: 'short' }
    const all = Array.from({ length: 90 }, async () => {
      const path = `/v1/auth/${surface}/me/password`
      outcomes.push(outcomeOf(await host.send('POST', path, { bearer, body })))
    })
    await until(() => outcomes.length >= 33)
    expect(new Set(outcomes)).toEqual(new Set([busy]))
    await hasher.letGo(() => outcomes.length === 90)
    await Promise.all(all)
    expect(outcomes.filter((seen) => seen !== busy)).toContain('422 password_policy')
    expect((await host.send('GET', `/v1/auth/${surface}/me`, { bearer })).status).toBe(200)
  })

  it("holds up nothing that the host's code hashes", async () => {
    const { hasher, host } = await open()
    hasher.hold()
    const flood = await flooded(host, surface)
    let made = false
    const user = { email: 'made@example.org', password: otherPassword, emailVerified: true }
    const creation = host.auth[surface].users.create(user).then(() => {
      made = true
    })
    await hasher.letGo(() => made)
    await creation
    const before = hasher.begun.length
    await flood.ended
    expect(before).toBeLessThan(soon)
    const who = { id: '', email: user.email, password: otherPassword }
    expect((await signIn(host, surface, who)).bearer).not.toBe('')
  })
})
