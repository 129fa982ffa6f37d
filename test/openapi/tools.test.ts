import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/openapi/index.js'
import { operationOptions } from '../../src/operations/operation.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const tool = (path: string): string => join(root, 'node_modules', path)

/** A client's program: it compiles if the types say what the routes do. */
const program = `
import type { components, operations, paths } from './api.js'

type Login = operations['clientLogin']
type Sent = Login['requestBody']['content']['application/json']
type Got = Login['responses'][200]['content']['application/json']

export const sent: Sent = { email: 'ada@example.org', password: 'correct horse battery staple' }
// @ts-expect-error: a member there is not
export const wrong: Sent = { email: 'ada@example.org', password: 'x', remember: true }

export function tokenOf(got: Got): string | null {
  return got.status === 'authenticated' ? got.accessToken : null
}

type Refused = paths['/v1/auth/client/me']['get']['responses'][401]['content']['application/problem+json']
export const ended: Refused = {
  status: 401, title: 'Unauthorized', detail: '', code: 'session_revoked',
}
export const name: components['schemas']['User']['name'] = 'Ada'
`

let folder: string
let file: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postern-openapi-'))
  file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(openApiDocument({ surfaceOptions: operationOptions })))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('tools that read the OpenAPI document', () => {
  it('redocly finds no error in it', async () => {
    const args = [tool('@redocly/cli/bin/cli.js'), 'lint', file, '--format=json']
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { stdout } = await run(process.execPath, args, { env, cwd: folder, maxBuffer: 2 ** 26 })
    const report: {
      readonly totals: { readonly errors: number }
      readonly problems: readonly { readonly ruleId: string }[]
    } = JSON.parse(stdout)
    expect(report.totals.errors).toBe(0)
    // The licence is the host's to name, and a redirect is what three operations are for.
    const known = ['info-license', 'operation-2xx-response']
    expect(report.problems.filter(({ ruleId }) => !known.includes(ruleId))).toEqual([])
  })

  it('openapi-typescript makes types of it that compile', async () => {
    const types = join(folder, 'api.d.ts')
    await run(process.execPath, [tool('openapi-typescript/bin/cli.js'), file, '-o', types])
    writeFileSync(join(folder, 'client.ts'), program)
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext']
    const tsc = tool('@typescript/native/bin/tsc')
    await run(process.execPath, [tsc, ...options, 'client.ts'], { cwd: folder })
  })
})
