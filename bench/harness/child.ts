import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>
  /** For Node itself, such as `--expose-gc`. */
  readonly execArgv?: readonly string[]
}

export interface Memory {
  /** Both in bytes. */
  readonly rss: number
  readonly heapUsed: number
}

/** A contender in a process of its own. */
export interface Child<R> {
  readonly pid: number
  /** What its `start` answered. */
  readonly ready: R
  /** Calls one of its functions by name. Rejects with its error, and when it ended. */
  ask<A>(name: string, given?: unknown): Promise<A>
  /** User and system time since it started, in microseconds. */
  cpu(): Promise<number>
  /** After a garbage collection, where it was started with `--expose-gc`. */
  memory(): Promise<Memory>
  stop(): Promise<void>
}

interface Reply {
  readonly id: number
  readonly answer?: unknown
  readonly error?: string
}

const folder = new URL('../contenders/', import.meta.url)

/** Starts a contender on `node` and gives `given` to its `start`. */
export async function startChild<R>(
  node: string,
  file: string,
  given: unknown,
  options: ChildOptions = {},
): Promise<Child<R>> {
  const child = fork(fileURLToPath(new URL(file, folder)), {
    execPath: node,
    execArgv: [...(options.execArgv ?? [])],
    env: { ...process.env, NODE_ENV: 'production', ...options.env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Ctrl-C reaches this process alone, which then stops its children in order.
    detached: true,
  })
  const ask = questionsTo(child, file)
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    const kill = setTimeout(() => child.kill('SIGKILL'), 5000)
    if (child.connected) child.disconnect()
    await ended
    clearTimeout(kill)
  }
  try {
    const ready = await ask<R>('start', given)
    return {
      pid: child.pid ?? 0,
      ready,
      ask,
      cpu: () => ask('cpu'),
      memory: () => ask('memory'),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function questionsTo(child: ChildProcess, file: string) {
  const open = new Map<number, (reply: Reply) => void>()
  let last = 0
  let said = ''
  child.stderr?.on('data', (text: Buffer) => {
    said = `${said}${text}`.slice(-4000)
  })
  child.on('message', (reply: Reply) => {
    open.get(reply.id)?.(reply)
    open.delete(reply.id)
  })
  child.on('exit', (code, signal) => {
    for (const answer of open.values()) {
      answer({ id: 0, error: `ended with ${signal ?? code}: ${said}` })
    }
    open.clear()
  })
  return <A>(name: string, given?: unknown): Promise<A> =>
    new Promise((resolve, reject) => {
      last += 1
      open.set(last, (reply) => {
        if (reply.error === undefined) resolve(reply.answer as A)
        else reject(new Error(`${file}: ${name}: ${reply.error}`))
      })
      child.send({ id: last, name, given: given ?? null }, (error) => {
        if (error) reject(new Error(`${file}: ${name}: ${error.message} ${said}`))
      })
    })
}
