import type { AuthOptions } from 'postern'
import { run } from '../../../src/cli/frame/run.js'
import { importCommand } from '../../../src/cli/import/import-command.js'
import type { ContractHost } from '../hosts/hosts.js'
import { generousSurfaces } from '../hosts/open-host.js'
import { cheapHash } from '../hosts/test-auth.js'
import { testConfigKeys, testSigningKey } from '../keys.js'
import { type Ran, type Terminal, terminal } from './terminal.js'

export interface ImportTerminal extends Pick<Terminal, 'folder'> {
  /** Runs `postern import` with these arguments. */
  run(...args: readonly string[]): Promise<Ran>
}

export interface ImportSurroundings {
  readonly options?: Partial<AuthOptions>
  readonly env?: Readonly<Record<string, string>>
}

/** A terminal whose `postern import` writes into the database of a host. */
export async function importTerminal(
  host: Pick<ContractHost, 'backend' | 'clock' | 'mailer'>,
  { options = {}, env = {} }: ImportSurroundings = {},
): Promise<ImportTerminal> {
  const { folder } = await terminal()
  const { backend, clock, mailer } = host
  const config = async (): Promise<AuthOptions> => ({
    ...{ backend, clock, mailer, hash: cheapHash, env: {} },
    ...{ keys: { current: await testSigningKey() }, configKeys: testConfigKeys },
    surfaces: generousSurfaces,
    ...options,
  })
  const entry = {
    name: 'import',
    summary: '',
    load: async () => ({
      ...importCommand,
      run: (call: Parameters<typeof importCommand.run>[0]) =>
        importCommand.run({ ...call, config }),
    }),
  }
  return {
    folder,
    async run(...args) {
      const [out, err]: [string[], string[]] = [[], []]
      const code = await run({ commands: [entry], version: '1.2.3' }, ['import', ...args], {
        ...{
          cwd: folder,
          ask: null,
          env,
          now: clock.now,
          nodeVersion: process.versions.node,
          randomBytes: (size) => new Uint8Array(size),
        },
        out: (text) => out.push(text),
        err: (text) => err.push(text),
      })
      return { code, out: out.join('\n'), err: err.join('\n') }
    },
  }
}
