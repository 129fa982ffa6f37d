import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ExampleHost, exampleHost, exampleSecrets } from '../support/hosts/example-host.js'
import { freePort } from '../support/hosts/free-port.js'
import { StartedProgram } from '../support/hosts/started-program.js'
import { cloneRepository, command } from '../support/package/packed-package.js'

/** `examples/nextjs` of a clone, installed and built. */
export interface NextExample {
  /** A process of its own, with what this adds to its environment. */
  start(more: Readonly<Record<string, string>>): Promise<ExampleHost>
  /** The same of a second build, into which Next.js bundles the package. */
  startBundled(more: Readonly<Record<string, string>>): Promise<ExampleHost>
  /** Hosts beyond this machine that the build or a process tried to reach. */
  reached(): readonly string[]
  remove(): void
}

/** What npm says where the packages cannot be had. Anything else is a fault of the example. */
const isUnreachable =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b/

/** Installs with what the lockfile names, and the package as it is packed; null where the registry cannot be reached. */
export async function nextExample(): Promise<NextExample | null> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-nextjs-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const clone = cloneRepository(folder)
  const cwd = join(clone, 'examples/nextjs')
  await command(clone, 'npm', 'run', '--silent', 'build')
  try {
    await command(cwd, 'npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error')
  } catch (error) {
    if (!(error instanceof Error) || !isUnreachable.test(error.message)) throw error
    remove()
    return null
  }
  const log = join(folder, 'network.log')
  writeFileSync(log, '')
  const hook = pathToFileURL(join(clone, 'test/support/package/no-network.mjs')).href
  const quiet = { NEXT_TELEMETRY_DISABLED: '1', NETWORK_LOG: log, NODE_OPTIONS: `--import=${hook}` }
  const next = join(cwd, 'node_modules/next/dist/bin/next')
  const run = (name: string, env: Readonly<Record<string, string>>) =>
    new StartedProgram(process.execPath, [next, name], { cwd, env: { ...quiet, ...env } })
  async function build(): Promise<void> {
    const built = run('build', {})
    if ((await built.ended()) !== 0) throw new Error(`next build failed:\n${built.output}`)
  }
  async function start(more: Readonly<Record<string, string>>): Promise<ExampleHost> {
    const port = await freePort()
    const url = `http://localhost:${port}`
    const at = { PORT: String(port), OPERATOR_URL: url, CLIENT_URL: url }
    const program = run('start', { ...(await exampleSecrets()), ...at, ...more })
    await program.printed(/Ready in/)
    return exampleHost(program, port)
  }
  await build()
  return {
    start,
    async startBundled(more) {
      const config = join(cwd, 'next.config.mjs')
      const apart = "serverExternalPackages: ['postern']"
      const text = readFileSync(config, 'utf8')
      assert(text.includes(apart))
      writeFileSync(config, text.replace(apart, "distDir: '.bundled'"))
      await build()
      return start(more)
    },
    reached: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []),
    remove,
  }
}
