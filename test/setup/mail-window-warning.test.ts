import { expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { createAuth } from '../../src/create-auth.js'
import { testConfigKeys, testSigningKey } from '../support/keys.js'
import { recordingLogger } from '../support/outside/recording-logger.js'
import { recordingMailer } from '../support/outside/recording-mailer.js'

const hour = 60 * 60_000

it.each([
  [undefined, 0],
  [hour, 0],
  [hour + 1, 1],
])('a window of mails of %s ms is warned of %i times', async (windowMs, times) => {
  const logger = recordingLogger()
  const rateLimits = windowMs === undefined ? {} : { recoveryPerAddress: { limit: 3, windowMs } }
  const auth = await createAuth({
    backend: memory(),
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com', rateLimits },
    },
    mailer: recordingMailer(),
    env: {},
    logger,
  })
  await auth.close()
  const messages = logger.lines.map(({ level, message }) => `${level} ${message}`)
  const found = messages.filter((message) => message.includes('recoveryPerAddress'))
  expect(found).toHaveLength(times)
  for (const message of found) {
    expect(message).toMatch(
      /^warn surfaces\.client\.rateLimits\.recoveryPerAddress\.windowMs is 3600001/,
    )
    expect(message).toContain('Make it at most 3600000')
  }
})
