import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command, type PackedPackage, packedPackage } from '../support/package/packed-package.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')
const manifest: { dependencies: object } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

describe('the page on tests of a host', () => {
  let packed: PackedPackage
  beforeAll(async () => {
    packed = await packedPackage()
  })
  afterAll(() => packed?.remove())

  it('has a test file that passes as it is', async () => {
    const [, block] = /^```ts\n(.*?)^```/ms.exec(page) ?? []
    assert.ok(block)
    const folder = packed.host('testing', ['@types/node', ...Object.keys(manifest.dependencies)])
    writeFileSync(join(folder, 'host.test.ts'), block)
    const { stdout } = await command(
      ...([folder, process.execPath, '--test', '--test-reporter=tap', 'host.test.ts'] as const),
    )
    expect(stdout).toMatch(/^# pass 4\n# fail 0\n# cancelled 0$/m)
  })
})
