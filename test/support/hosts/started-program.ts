import { type ChildProcess, spawn } from 'node:child_process'
import { cleanEnvironment } from '../package/packed-package.js'

export interface Start {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** A program as a person starts it, with what it prints. */
export class StartedProgram {
  readonly #child: ChildProcess
  readonly #name: string
  #output = ''
  #hasEnded = false
  #waiting: (() => void)[] = []

  constructor(program: string, args: readonly string[], { cwd, env = {} }: Start) {
    this.#name = [program, ...args].join(' ')
    this.#child = spawn(program, args, {
      cwd,
      env: { ...cleanEnvironment, ...env },
      detached: true,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#output += chunk
        this.#wake()
      })
    }
    // Closed, not exited: by then all that it printed is here.
    this.#child.on('close', () => {
      this.#hasEnded = true
      this.#wake()
    })
  }

  /** Resolves with the first match of what was printed; fails when the process ends before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#output)
      if (found) return found
      if (this.#hasEnded) throw new Error(`${this.#name} ended:\n${this.#output}`)
      await this.#next()
    }
  }

  /** Signals the whole group, as a terminal does, and waits for the end; the exit code, null after a signal. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.#hasEnded) this.signal(signal)
    return this.ended()
  }

  /** Waits for the end; the exit code, null after a signal. */
  async ended(): Promise<number | null> {
    while (!this.#hasEnded) await this.#next()
    return this.#child.exitCode
  }

  /** Signals the whole group and does not wait. */
  signal(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal)
  }

  /** At the end of a test, whatever became of it. */
  kill(): void {
    if (!this.#hasEnded) this.signal('SIGKILL')
  }

  get output(): string {
    return this.#output
  }

  /** Resolves when it printed more, or ended. */
  #next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
