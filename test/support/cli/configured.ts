import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { AuthOptions } from 'postern'
import { sqlite } from 'postern/sqlite'
import { onTestFinished } from 'vitest'
import { cheapHash } from '../hosts/test-auth.js'
import { testConfigKeys, testSigningKey } from '../keys.js'
import { type RecordingMailer, recordingMailer } from '../outside/recording-mailer.js'
import { type Terminal, terminal } from './terminal.js'

export interface Configured extends Terminal {
  readonly options: AuthOptions
  readonly mailer: RecordingMailer
}

/**
 * A terminal in a folder whose `postern.config.mjs` gives the options of a host on SQLite. The file takes them from this
 * process, so that the command and the test share the database.
 */
export async function configured(
  given: Partial<AuthOptions> = {},
  surroundings: Parameters<typeof terminal>[0] = {},
): Promise<Configured> {
  const place = await terminal(surroundings)
  const database = new DatabaseSync(':memory:')
  const mailer = recordingMailer()
  const options: AuthOptions = {
    ...{ backend: sqlite(database), mailer, hash: cheapHash, sweep: false },
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com' },
    },
    ...given,
  }
  const shared = `options of ${place.folder}`
  Reflect.set(globalThis, shared, options)
  onTestFinished(() => {
    Reflect.deleteProperty(globalThis, shared)
    database.close()
  })
  const code = `export default () => globalThis[${JSON.stringify(shared)}]`
  await writeFile(join(place.folder, 'postern.config.mjs'), code)
  return { ...place, options, mailer }
}
