import {
  type AnyCollectionSpec,
  type Backend,
  checkedStore,
  type FieldSpec,
  type GuardTest,
  type LeaseRecord,
  type Page,
} from 'postern'
import { conformance } from 'postern/testing'
import { describe, expect, expectTypeOf, it, test } from 'vitest'
import { ask } from '../support/hosts/fetch-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import {
  type FrozenPage,
  type FrozenRecord,
  type FrozenSpec,
  type FrozenTest,
  frozenAdapter,
} from './frozen-adapter.js'

/** Compiles as long as no port has a mandatory method more than the adapter was written for. */
function checked(adapter: Backend): Backend {
  return { ...adapter, store: checkedStore(adapter.store) }
}

describe('an adapter that is never changed goes on serving', () => {
  const frozen = frozenAdapter()
  const cases = conformance({
    open: ({ through }) => ({ backend: checked(through(frozen)) }),
  })
  // It was written before there was `Counter.add`, which is optional.
  const isOfAdd = (promise: string, name: string) =>
    promise.startsWith('Counter.add') || /^(an )?add /.test(name)
  const known = cases.filter(({ promise, name }) => !isOfAdd(promise, name))
  for (const { group, name, run } of known) test(`${group}: ${name}`, run)

  it('is asked nothing it does not know', () => {
    expectTypeOf<
      GuardTest<string> | GuardTest<number> | GuardTest<boolean> | null
    >().toExtend<FrozenTest>()
    expectTypeOf<AnyCollectionSpec>().toExtend<FrozenSpec>()
    // What a store may drop, it may keep as well.
    type Asked = Exclude<keyof AnyCollectionSpec, 'retiredIndexes'>
    expectTypeOf<Asked>().toEqualTypeOf<keyof FrozenSpec>()
    expectTypeOf<keyof FieldSpec>().toEqualTypeOf<keyof FrozenSpec['fields'][string]>()
    expectTypeOf<Page>().toEqualTypeOf<FrozenPage>()
    expectTypeOf<LeaseRecord>().toEqualTypeOf<FrozenRecord>()
  })

  it('serves a registration and a login', async () => {
    const { auth, mailer } = await testAuth({ backend: checked(frozenAdapter()) })
    const credentials = { email: 'ada@example.org', password: 'correct horse battery staple' }
    const post = (path: string, body: object) =>
      ask(auth, path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    expect((await post('/register', credentials)).status).toBe(201)
    await auth.close() // the mail is sent beside the request
    const { token } = mailer.last('verifyEmail', credentials.email).data
    const chosen = { token, newPassword: credentials.password }
    expect((await post('/email/verify', chosen)).status).toBe(200)
    const login = await post('/mobile/login', credentials)
    expect([login.status, await login.json()]).toMatchObject([200, { tokenType: 'Bearer' }])
  })
})
