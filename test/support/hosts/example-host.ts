import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { testSigningKey } from '../keys.js'
import { cloneRepository, command } from '../package/packed-package.js'
import { freePort } from './free-port.js'
import { httpClient, type Send } from './http-client.js'
import { StartedProgram } from './started-program.js'

/** A host of `examples` that runs, and how requests reach it. */
export interface ExampleHost {
  readonly program: StartedProgram
  readonly port: number
  /** Requests to each surface's host, as a proxy in front passes them on. */
  readonly send: Readonly<Record<Surface, Send>>
}

export const firstOperator = {
  email: 'first@example.org',
  password: 'correct horse battery staple',
}
export const issuer = 'https://operator.example.com'

/** The environment of a host behind a proxy that ends TLS, with a name for each surface. */
export const behindProxy = {
  OPERATOR_URL: issuer,
  CLIENT_URL: 'https://client.example.com',
  TRUSTED_PROXIES: '1',
}

/** What every host of `examples` reads of its environment to start. */
export async function exampleSecrets(): Promise<Readonly<Record<string, string>>> {
  return {
    SIGNING_KEY: await testSigningKey(),
    CONFIG_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    OPERATOR_EMAIL: firstOperator.email,
    OPERATOR_PASSWORD: firstOperator.password,
  }
}

export function exampleHost(program: StartedProgram, port: number): ExampleHost {
  const send = httpClient(`http://127.0.0.1:${port}`)
  const through = (url: string): Send => {
    const forwarded = { 'x-forwarded-host': new URL(url).host, 'x-forwarded-for': '192.0.2.7' }
    return (method, path, given = {}) =>
      send(method, path, { ...given, headers: { ...forwarded, ...given.headers } })
  }
  const { OPERATOR_URL, CLIENT_URL } = behindProxy
  return { program, port, send: { operator: through(OPERATOR_URL), client: through(CLIENT_URL) } }
}

/** The host of this folder below `examples`, from a clone that was built. To be called once, in a `describe`. */
export function startedExample(
  name: string,
  more: () => Readonly<Record<string, string>> = () => ({}),
): () => ExampleHost {
  const folder = mkdtempSync(join(tmpdir(), `postern-${name}-`))
  let host: ExampleHost | null = null
  beforeAll(async () => {
    const clone = cloneRepository(folder)
    const tsup = join(clone, 'node_modules/tsup/dist/cli-default.js')
    await command(clone, process.execPath, tsup, '--silent')
    const port = await freePort()
    const env = { ...(await exampleSecrets()), ...behindProxy, PORT: String(port), ...more() }
    const main = [`examples/${name}/main.ts`]
    const program = new StartedProgram(process.execPath, main, { cwd: clone, env })
    host = exampleHost(program, port)
    await program.printed(/Listening on/)
  })
  afterAll(() => {
    host?.program.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    if (host === null) throw new Error(`examples/${name} did not start`)
    return host
  }
}
