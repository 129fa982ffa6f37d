// `postern import` as a process of its own, which may be told to kill itself at a call of the store.
import pg from 'pg'
import type { AuthOptions } from 'postern'
import { postgres } from 'postern/postgres'
import { run } from '../../../src/cli/frame/run.js'
import { importCommand } from '../../../src/cli/import/import-command.js'
import { interceptBackend } from '../../../src/testing/faults/intercept-backend.js'
import { legacyOptions } from './legacy-options.js'

/** What the process is told in its environment, as JSON. */
export interface ImportProgram {
  readonly url: string
  readonly schema: string
  readonly folder: string
  /** Where the users come from. */
  readonly source: string
  readonly args: readonly string[]
  /** Null for none. */
  readonly killAt: KillPoint | null
  readonly signingKey: string
  readonly configKey: string
}

/** The call of the store before which the process is killed. */
export interface KillPoint {
  /** Such as `client_users.update`; null to count all calls. */
  readonly call: string | null
  /** From 1. */
  readonly nth: number
}

export const programVariable = 'POSTERN_IMPORT_PROGRAM'

async function main(given: string): Promise<void> {
  const program: ImportProgram = JSON.parse(given)
  const entry = {
    name: 'import',
    summary: '',
    load: async () => ({
      ...importCommand,
      run: (call: Parameters<typeof importCommand.run>[0]) =>
        importCommand.run({ ...call, config: async () => optionsOf(program) }),
    }),
  }
  const line = { commands: [entry], version: '' }
  const code = await run(line, ['import', ...program.args], {
    ...{ cwd: program.folder, ask: null, env: { POSTERN_SOURCE_URL: program.source } },
    ...{
      now: Date.now,
      nodeVersion: process.versions.node,
      randomBytes: (size: number) => new Uint8Array(size),
    },
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
  })
  process.exit(code)
}

function optionsOf({ url, schema, killAt, signingKey, configKey }: ImportProgram): AuthOptions {
  const pool = new pg.Pool({ connectionString: url, max: 10, options: '-c synchronous_commit=off' })
  let calls = 0
  const backend = interceptBackend(postgres(pool, { schema }), (name, work) => {
    if (name === (killAt?.call ?? name)) calls += 1
    // Another one of the batch may be on its way to the server, and may arrive.
    if (calls === killAt?.nth) process.kill(process.pid, 'SIGKILL')
    return work()
  })
  return {
    backend,
    keys: { current: signingKey },
    configKeys: [{ id: 'test', key: configKey }],
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com' },
    },
    mailer: { send: async () => undefined },
    // An import looks at the form of a hash alone.
    ...legacyOptions(() => Promise.reject(new Error('no login'))),
  }
}

const given = process.env[programVariable]
if (given !== undefined) await main(given)
