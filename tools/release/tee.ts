import { type SpawnOptions, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

/** What a program printed, and how it ended. */
export interface Told {
  /** Null where it was ended by a signal. */
  readonly code: number | null
  /** Without colours. What it printed as an error is not among them. */
  readonly lines: readonly string[]
}

/** Runs a program, shows what it prints as soon as it prints it, and keeps the lines. */
export function tee(
  command: readonly [program: string, ...args: readonly string[]],
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
  show: (text: string) => void,
): Promise<Told> {
  const [program, ...args] = command
  const child = spawn(program, args, { ...options, stdio: ['inherit', 'pipe', 'inherit'] })
  let told = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text
    show(text)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      resolve({ code, lines: stripVTControlCharacters(told).split(/\r?\n/) })
    })
  })
}
