import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { commands } from '../../../src/cli/commands.js'
import type { Surroundings } from '../../../src/cli/frame/command.js'
import { run } from '../../../src/cli/frame/run.js'

/** What a run of the command left behind. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Terminal {
  /** The empty folder that the command is called in; gone after the test. */
  readonly folder: string
  /** Runs `postern` with these arguments, as often as the test likes. */
  run(...args: readonly string[]): Promise<Ran>
}

type Given = Partial<Pick<Surroundings, 'ask' | 'env' | 'now' | 'nodeVersion'>>

/** A terminal in an empty folder, in which no person answers unless `ask` is given. */
export async function terminal({
  ask = null,
  env = {},
  now = Date.now,
  nodeVersion = process.versions.node,
}: Given = {}): Promise<Terminal> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-cli-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return {
    folder,
    async run(...args) {
      const [out, err]: [string[], string[]] = [[], []]
      const surroundings: Surroundings = {
        ...{ cwd: folder, ask, env, now, nodeVersion, randomBytes },
        out: (text) => out.push(text),
        err: (text) => err.push(text),
      }
      const code = await run({ commands, version: '1.2.3' }, args, surroundings)
      return { code, out: out.join('\n'), err: err.join('\n') }
    },
  }
}
