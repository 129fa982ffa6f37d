import { describe, expect, it } from 'vitest'
import { userProblem } from '../../src/engine/accounts.js'

const nameText = 'name must be a text, well-formed and without NUL.'
const nameLine =
  'name must be a single line, without control characters and without those of bidirectional text.'
const role = 'systemRole must be a text of at most 100 characters, well-formed and without NUL.'
const tenants = 'memberships must be an array of { tenantId }, each a text of 1 to 64 characters.'
const bytes = 'memberships must be 4096 bytes at most, written as JSON: access tokens carry them.'

/** As JSON, of exactly this many bytes. */
function membershipsOf(size: number) {
  const around = JSON.stringify({ tenantId: '' }).length + 1
  const count = Math.ceil((size - 1) / (around + 64))
  const letters = size - 1 - count * around
  const lengths = Array.from({ length: count }, (_, index) => Math.floor((letters + index) / count))
  return lengths.map((length) => ({ tenantId: 'x'.repeat(length) }))
}

describe('what a host may say of a user', () => {
  it.each([
    ['nothing', {}],
    ['all of it', { name: 'Ada', enabled: true, emailVerified: false, systemRole: 'editor' }],
    ['an empty name', { name: '' }],
    ['a role of a hundred characters', { systemRole: 'r'.repeat(100) }],
    ['no membership', { memberships: [] }],
    ['a tenant', { memberships: [{ tenantId: 'acme' }] }],
  ])('%s is in order', (_name, given) => {
    expect(userProblem(given)).toBeNull()
  })

  it.each([
    [{ name: 7 }, nameText],
    [{ name: 'a\0' }, nameText],
    [{ name: '\ud800' }, nameText],
    [{ name: 'Ada\nGrace' }, nameLine],
    [{ name: 'Ada\u202e' }, nameLine],
    [{ systemRole: 7 }, role],
    [{ systemRole: 'r'.repeat(101) }, role],
    [{ enabled: 'yes' }, 'enabled must be true or false.'],
    [{ emailVerified: 0 }, 'emailVerified must be true or false.'],
    [{ memberships: 'acme' }, tenants],
    [{ memberships: [{ tenantId: '' }] }, tenants],
    [{ memberships: [{ tenantId: 'acme' }, null] }, tenants],
    [{ memberships: [{ tenantId: 'x'.repeat(65) }] }, tenants],
  ])('%j is told', (given, problem) => {
    expect(userProblem(given)).toBe(problem)
  })

  it('has memberships of 4096 bytes, and of no more', () => {
    const fits = membershipsOf(4096)
    expect(JSON.stringify(fits)).toHaveLength(4096)
    expect(userProblem({ memberships: fits })).toBeNull()
    expect(userProblem({ memberships: membershipsOf(4097) })).toBe(bytes)
  })
})
