// Loads the built package under whatever Node runs this file: plain JavaScript, no tools.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const entries = Object.keys(manifest.exports).filter((path) => path !== './package.json')

for (const path of entries) {
  const name = manifest.name + path.slice(1)
  const imported = await import(name)
  assert.ok(Object.keys(imported).length > 0, `${name} exports nothing`)
  const required = require(name)
  for (const key of Object.keys(imported)) {
    assert.equal(required[key], imported[key], `${name}: import and require differ in ${key}`)
  }
}

const { generateSigningKey } = await import(manifest.name)
assert.match(await generateSigningKey(), /^-----BEGIN PRIVATE KEY-----/)

// A native module built for another Node ends the process without an exception.
const argon2 = require('argon2')
assert.ok(await argon2.verify(await argon2.hash('smoke', { memoryCost: 1024 }), 'smoke'))

console.log(
  `${manifest.name} ${manifest.version}: ${entries.length} entries load under Node ${process.version}`,
)
