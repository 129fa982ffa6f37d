import { expect, it } from 'vitest'
import { supabaseRow } from '../../../../src/cli/import/supabase/supabase-source.js'

const options = {
  rules: { roles: new Map(), dropSecondFactors: false },
  space: 'client',
  now: () => 0,
}
const id = '0199a1b2-0000-7000-8000-000000000001'
const rowOf = (columns: Readonly<Record<string, unknown>>) =>
  supabaseRow(
    { user: { id, email: 'ada@example.org', ...columns }, identities: [], factors: [] },
    options,
  )

it.each([
  ['$2a$10$abc', '$2a$10$abc'],
  ['$argon2id$v=19$m=64,t=1,p=1$c2FsdA$aGFzaA', '$argon2id$v=19$m=64,t=1,p=1$c2FsdA$aGFzaA'],
  [
    '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=abc==$c2FsdA==$aGFzaA==',
    '$firebase-scrypt$c2FsdA==$aGFzaA==',
  ],
  ['', null],
  [null, null],
])('the hash %s becomes %s', (stored, hash) => {
  expect(rowOf({ encrypted_password: stored }).user?.passwordHash).toBe(hash)
})

it('takes a name from either member of the metadata, and from nothing that is no text', () => {
  const named = (data: unknown) => rowOf({ raw_user_meta_data: data }).user?.name
  expect(named({ name: 'Ada' })).toBe('Ada')
  expect(named({ full_name: '', name: 'Ada' })).toBe('Ada')
  for (const odd of [null, 'Ada', ['Ada'], { name: { first: 'Ada' } }, {}]) {
    expect(named(odd)).toBeNull()
  }
})
