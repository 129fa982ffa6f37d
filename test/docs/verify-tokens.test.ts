import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openHost } from '../support/hosts/open-host.js'
import { signedInPerson } from '../support/people/people.js'

const page = readFileSync(new URL('../../docs/verify-tokens.md', import.meta.url), 'utf8')

/** The function of the page for Node, as it stands there. */
async function functionOfThePage(): Promise<(token: string) => Promise<string>> {
  const [, code = ''] = /^```ts\n(import .*?)^```/ms.exec(page) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'postern-verify-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'verify.mjs')
  const target = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext }
  const { outputText } = ts.transpileModule(code, { compilerOptions: target })
  writeFileSync(path, outputText.replace(`'jose'`, `'${import.meta.resolve('jose')}'`))
  const { customerOf } = await import(/* @vite-ignore */ pathToFileURL(path).href)
  return customerOf
}

it('the page on other services has a function for Node that takes access tokens of customers alone', async () => {
  const host = await openHost()
  const keys = (await host.send('GET', '/v1/auth/operator/jwks')).json()
  const [customer, member] = [
    await signedInPerson(host, 'client'),
    await signedInPerson(host, 'operator'),
  ]
  const asked: string[] = []
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url)
    return Response.json(keys)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.setSystemTime(host.clock.now())
  onTestFinished(() => void vi.useRealTimers())
  const customerOf = await functionOfThePage()
  expect(await customerOf(customer.bearer)).toBe(customer.id)
  expect(asked).toEqual(['https://admin.example.com/v1/auth/operator/jwks'])
  for (const token of [member.bearer, customer.refreshToken, `${customer.bearer}A`]) {
    await expect(customerOf(token)).rejects.toThrow()
  }
  vi.setSystemTime(host.clock.now() + 15 * 60 * 1000)
  await expect(customerOf(customer.bearer)).rejects.toThrow('exp')
})
