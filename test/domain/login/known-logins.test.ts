import { expect, it } from 'vitest'
import { rememberLogin } from '../../../src/domain/login/login-risk.js'
import { knownLoginsOf, type StoredLogin } from '../../../src/domain/passwords/guess-budgets.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { testContext } from '../../support/test-context.js'

const userId = '01890a5d-ac96-774b-bcce-b302099a8057'

/** From the same browser and network; without its recognition cookie it is another device each time. */
const login = (n: number): StoredLogin => ({
  ...{ at: n, ip: '192.0.2.1', userAgent: 'Browser', deviceId: null, method: 'password' },
  ...{
    secretsEpoch: 0,
    factorEpoch: -1,
    sessionId: null,
    mfaMethod: null,
    recognitionHash: `device ${n}`,
  },
})

it.each([
  ['goes', 0],
  ['stays where a login from there came in between', 1],
])('what is too much of one browser and network %s', async (_what, later) => {
  const ctx = await testContext({ clock: fakeClock(1000) })
  const { background, collections } = ctx
  for (let n = 1; n <= 8; n += 1) rememberLogin(ctx, userId, login(n), [])
  await background.drain()
  const history = await knownLoginsOf(ctx, userId)
  const [oldest] = (await collections.knownLogins.find({ userId }, { limit: 9 })).filter(
    ({ loginAt }) => loginAt === 1,
  )
  const id = oldest?.id ?? ''
  await collections.knownLogins.update(id, { userId }, { loginAt: 1 + later })
  rememberLogin(ctx, userId, login(9), history)
  await background.drain()
  expect((await collections.knownLogins.get(id)) !== null).toBe(later === 1)
})
