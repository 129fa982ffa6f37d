import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { release } from '../../tools/write-version.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

describe('a release', () => {
  let folder: string
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'postern-release-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const name of ['package.json', 'package-lock.json']) {
      cpSync(join(root, name), join(folder, name))
    }
  })

  it('has the version of the unreleased entry, in the manifest and the lockfile, and the date', () => {
    const before =
      '# Changelog\n\n## 9.8.7 (unreleased)\n\n- new\n\n## 0.1.0 (2026-01-02)\n\n- old\n'
    writeFileSync(join(folder, 'CHANGELOG.md'), before)
    const lockBefore = JSON.parse(read('package-lock.json'))
    const manifestBefore = JSON.parse(read('package.json'))

    release(folder, '2026-03-04')

    expect(read('CHANGELOG.md')).toBe(before.replace('(unreleased)', '(2026-03-04)'))
    expect(JSON.parse(read('package.json'))).toEqual({ ...manifestBefore, version: '9.8.7' })
    const packages = { ...lockBefore.packages }
    packages[''] = { ...packages[''], version: '9.8.7' }
    expect(JSON.parse(read('package-lock.json'))).toEqual({
      ...lockBefore,
      version: '9.8.7',
      packages,
    })
  })

  it('is refused without an unreleased entry, and nothing is written', () => {
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## 0.1.0 (2026-01-02)\n\n- old\n')
    const manifest = read('package.json')
    expect(() => release(folder, '2026-03-04')).toThrow('has no entry')
    expect(read('package.json')).toBe(manifest)
  })
})

describe('the changelog', () => {
  it('begins with the entry that is not released yet, or with the version of the package', () => {
    const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
    const [, version, state] = /^## (\S+) \((.+)\)$/m.exec(text) ?? []
    expect(state).toMatch(/^(unreleased|\d{4}-\d{2}-\d{2})$/)
    const { version: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    if (state === 'unreleased') expect(version).not.toBe(own)
    else expect(version).toBe(own)
  })
})
