import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../../src/concurrency/background-tasks.js'
import { createKnownLogins } from '../../../src/domain/login/known-logins.js'
import { collectionsOf } from '../../../src/model/collections.js'
import type { PastLogin } from '../../../src/ports/risk-scorers.js'
import { later as nextTurn } from '../../../src/system/system-clock.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

const userId = '01890a5d-ac96-774b-bcce-b302099a8057'

/** From the same browser and network; without its recognition cookie it is another device each time. */
const login = (n: number): PastLogin => ({
  ...{ at: n, ip: '192.0.2.1', userAgent: 'Browser', deviceId: null, method: 'password' },
  ...{ mfaMethod: null, recognitionHash: `device ${n}` },
})

it.each([
  ['goes', 0],
  ['stays where a login from there came in between', 1],
])('what is too much of one browser and network %s', async (_what, later) => {
  const clock = fakeClock(1000)
  const background = createBackgroundTasks(recordingLogger(), nextTurn)
  const collections = collectionsOf(memory().store, 'client', '')
  const known = createKnownLogins({ collections, clock, background })
  for (let n = 1; n <= 8; n += 1) known.remember(userId, login(n), [])
  await background.drain()
  const history = await known.of(userId)
  const [oldest] = (await collections.knownLogins.find({ userId }, { limit: 9 })).filter(
    ({ loginAt }) => loginAt === 1,
  )
  const id = oldest?.id ?? ''
  await collections.knownLogins.update(id, { userId }, { loginAt: 1 + later })
  known.remember(userId, login(9), history)
  await background.drain()
  expect((await collections.knownLogins.get(id)) !== null).toBe(later === 1)
})
