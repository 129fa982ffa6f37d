import { AuthError } from 'postern'
import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn, storedUser } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { linkFor, login, reset } from '../../support/people/recovery-steps.js'

const hour = 60 * 60_000
const email = 'ada@example.org'
const pages = {
  operator: 'https://admin.example.com/reset-password',
  client: 'https://app.example.com/reset-password',
}

eachSurface.describe('a link for a password', (surface) => {
  async function invited() {
    const host = await openHost()
    const { users } = host.auth[surface]
    const { id } = await users.create({ email, emailVerified: true })
    const link = await users.passwordLink(id, { actorId: 'the-host' })
    if (link === null) throw new Error('there is no link')
    return { ...host, id, link, users }
  }

  it('lets its holder choose the first password, once', async () => {
    const host = await invited()
    const { link } = host
    expect(link).toEqual({
      url: `${pages[surface]}#token=${link.token}`,
      token: expect.any(String),
      expiresAt: host.clock.now() + hour,
    })
    expect((await reset(host, surface, link.token, goodPassword)).status).toBe(204)
    expect((await login(host, surface, email, goodPassword)).status).toBe(200)
    expect(outcomeOf(await reset(host, surface, link.token, otherPassword))).toBe(
      '400 invalid_token',
    )
    await host.auth.close()
    expect(host.mailer.sent.filter(({ template }) => template === 'resetPassword')).toEqual([])
  })

  it('is told to events and audit records with who asked, and without the token', async () => {
    const host = await invited()
    const asked = host.events.filter(({ type }) => type === 'password.resetRequested')
    expect(asked).toMatchObject([{ surface, actorId: 'the-host', userId: host.id }])
    await host.auth.close()
    const { records } = await host.auth[surface].audit.ofTarget(host.id)
    const told = JSON.stringify([host.events, records, host.logger.lines])
    expect(told).not.toContain(host.link.token.split('.')[1])
  })

  it('is void after an hour, after another link, and after a mailed one', async () => {
    const late = await invited()
    await late.clock.advance(hour)
    expect(outcomeOf(await reset(late, surface, late.link.token, goodPassword))).toBe(
      '400 token_expired',
    )
    const again = await invited()
    await again.users.passwordLink(again.id)
    expect(outcomeOf(await reset(again, surface, again.link.token, goodPassword))).toBe(
      '400 invalid_token',
    )
    const mailed = await invited()
    await linkFor(mailed, surface, email)
    expect(outcomeOf(await reset(mailed, surface, mailed.link.token, goodPassword))).toBe(
      '400 invalid_token',
    )
  })

  it('is void once the user was disabled, also if enabled again', async () => {
    const host = await invited()
    await host.users.update(host.id, { enabled: false })
    await host.users.update(host.id, { enabled: true })
    expect((await reset(host, surface, host.link.token, goodPassword)).status).toBe(400)
  })

  it('is void once the password was changed by its owner', async () => {
    const host = await openHost()
    const owner = await signedInPerson(host, surface)
    const link = await host.auth[surface].users.passwordLink(owner.id)
    const mailed = await linkFor(host, surface, owner.email)
    expect((await reset(host, surface, mailed, otherPassword)).status).toBe(204)
    expect((await reset(host, surface, link?.token ?? '', goodPassword)).status).toBe(400)
  })

  it('proves no mailbox: an address must be confirmed before', async () => {
    const host = await openHost()
    const { users } = host.auth[surface]
    const { id } = await users.create({ email })
    await expect(users.passwordLink(id)).rejects.toEqual(new AuthError('email_not_verified'))
    expect(await storedIn(host, surface).intents.find({ userId: id }, { limit: 1 })).toEqual([])
  })

  it('is none for a user who is disabled, unknown, a machine or of the other surface', async () => {
    const host = await openHost()
    const { users } = host.auth[surface]
    const disabled = await person(host, surface)
    await users.update(disabled.id, { enabled: false })
    const usual = await person(host, surface)
    const machine = '01940000-0000-7000-8000-000000000000'
    const row = await storedUser(host, surface, usual.email)
    const kind = 'service'
    await storedIn(host, surface).users.insert({
      ...row,
      id: machine,
      email: 'robot@m.invalid',
      kind,
    })
    const elsewhere = await person(host, surface === 'operator' ? 'client' : 'operator')
    const unknown = '01940000-0000-7000-8000-000000000001'
    for (const id of [disabled.id, machine, elsewhere.id, unknown, 'no-id', '']) {
      expect(await users.passwordLink(id)).toBeNull()
    }
    // @ts-expect-error: what a cast lets in
    await expect(users.passwordLink({ $ne: '' })).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

it('a link for a password is refused while no password signs in', async () => {
  const host = await openHost({ settings: { passwordLoginClientEnabled: false } })
  const { users } = host.auth.client
  const { id } = await users.create({ email, emailVerified: true })
  await expect(users.passwordLink(id)).rejects.toMatchObject({ code: 'password_login_disabled' })
})
