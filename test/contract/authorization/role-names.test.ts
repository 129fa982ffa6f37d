import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost } from '../../support/hosts/open-host.js'
import {
  administrator,
  peopleMay,
  serviceAccount,
} from '../../support/people/service-account-steps.js'

/** Each looks like a role that it is not, or like none. */
const odd = [
  ['nothing', ''],
  ['a space alone', ' '],
  ['a space before it', ' editor'],
  ['a space after it', 'editor '],
  ['a line end', 'editor\n'],
  ['a tab within', 'the\teditor'],
  ['a no-break space', 'the\u00a0editor'],
  ['an ideographic space', 'the\u3000editor'],
  ['a line separator', 'the\u2028editor'],
  ['a zero width space', 'edi\u200btor'],
  ['a zero width joiner', 'edi\u200dtor'],
  ['a soft hyphen', 'edi\u00adtor'],
  ['a byte order mark', '\ufeffeditor'],
  ['a turn of direction', 'editor\u202e'],
  ['a filler that is not seen', 'editor\u3164'],
  ['a variation selector', 'editor\ufe0f'],
  ['a mark of its own that NFC composes', 're\u0301dacteur'],
  ['a sign that NFC replaces', '\u212bngstrom'],
  ['half a character', 'editor\ud800'],
  ['NUL', 'a\0b'],
  ['101 characters', 'r'.repeat(101)],
] as const

const good = ['editor', 'the editor', 'r\u00e9dacteur', '編集者', 'tenant:admin', 'r'.repeat(100)]
const email = 'ada@example.org'
const refused = (member: string) => ({
  code: 'invalid_request',
  message: expect.stringContaining(`${member} must be`),
})

eachSurface.describe('the name of a role', (surface) => {
  it.each(odd)('with %s is refused at every door, and changes nothing', async (_what, name) => {
    const host = await openHost()
    const { users, roles } = host.auth[surface]
    const { id } = await users.create({ email, systemRole: 'editor' })
    const before = await users.get(id)
    const other = 'bob@example.org'
    const systemRole = refused('systemRole')
    await expect(users.create({ email: other, systemRole: name })).rejects.toMatchObject(systemRole)
    await expect(users.update(id, { name: 'x', systemRole: name })).rejects.toMatchObject(
      systemRole,
    )
    const row = { email: other, systemRole: name }
    expect(await users.import({ users: [row], allowRoles: ['editor'] })).toMatchObject({
      refused: 1,
      results: [{ code: 'invalid_row', reason: expect.stringContaining('systemRole must be') }],
    })
    const allowing = users.import({ users: [{ email: other }], allowRoles: ['editor', name] })
    await expect(allowing).rejects.toMatchObject(refused('allowRoles'))
    await expect(roles.define({ name, permissions: [] })).rejects.toMatchObject(refused('name'))
    expect(await users.get(id)).toEqual(before)
    expect(await users.findByEmail(other)).toBeNull()
    expect(await roles.list()).toEqual([])
    expect(eventsOf(host, 'role.defined')).toEqual([])
  })

  it.each(good)('%s is taken at every door, and is one role', async (name) => {
    const host = await openHost()
    const { users, roles } = host.auth[surface]
    const { id } = await users.create({ email, systemRole: name })
    expect(await users.update(id, { systemRole: name })).toMatchObject({ systemRole: name })
    const row = { email: 'bob@example.org', systemRole: name }
    expect(await users.import({ users: [row], allowRoles: [name] })).toMatchObject({ created: 1 })
    const defined = await roles.define({ name, permissions: [] })
    expect(await roles.define({ name, permissions: [] })).toEqual(defined)
  })
})

it('no role of a service account looks like one that is for people', async () => {
  const host = await openHost({ authorizer: peopleMay })
  const { id } = await serviceAccount(host, await administrator(host))
  const { users } = host.auth.operator
  for (const systemRole of ['super_admin\u200b', 'administrator\u00a0', '\u2060administrator']) {
    await expect(users.update(id, { systemRole })).rejects.toMatchObject(refused('systemRole'))
  }
  expect(await users.get(id)).toMatchObject({ systemRole: 'guest' })
})
