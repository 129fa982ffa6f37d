// The configuration store beside what a careful engineer writes for one record list by hand: fifty elements
// of six fields, one of them a secret.
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { roleAuthorizer } from 'postern'
import {
  defineModule,
  FieldBool,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldString,
  readModule,
  secretTest,
} from 'postern/config'
import { openValues, secretBox } from 'postern/config/secrets'
import { contender } from './contender.mjs'
import { poolOf } from './shared/database.mjs'
import { operatorOf } from './shared/operator.mjs'
import { authOn, backendOf, configKey } from './shared/postern.mjs'

const items = [
  { key: 'url', label: 'URL', type: FieldString, required: true, max: 200 },
  { key: 'region', label: 'Region', type: FieldString, required: true, max: 200 },
  { key: 'clientId', label: 'Client ID', type: FieldString, required: true, max: 200 },
  { key: 'enabled', label: 'Enabled', type: FieldBool },
  { key: 'weight', label: 'Weight', type: FieldInt, min: 0, max: 99_999 },
  { key: 'secret', label: 'Secret', type: FieldSecret, max: 200 },
]
const slugs = Array.from({ length: 50 }, (_, index) => `element-${index}`)
const moduleOf = (name, lists) =>
  defineModule({
    name,
    environments: ['production'],
    fields: Array.from({ length: lists }, (_, index) => ({
      key: `l${index}`,
      label: `List ${index}`,
      type: FieldRecordList,
      group: 'Lists',
      max: 50,
      items,
    })),
  })

/** A list holds fifty elements at most, so a thousand are twenty lists. */
const one = moduleOf('one', 1)
const many = moduleOf('many', 20)

let works = {}

contender({
  async start({ postgres, key }) {
    const pool = poolOf(postgres)
    const backend = await backendOf({ store: 'postgres', pool })
    const auth = await authOn(
      { backend, key },
      {
        authorizer: roleAuthorizer(),
        modules: [one, many],
        sweep: false,
        surfaces: surfacesWithWideAdminLimit(),
      },
    )
    const { ask } = await operatorOf(auth)
    for (const module of [one, many]) await fill(ask, module)
    const { rows } = await pool.query(
      `select "values" from postern.operator_module_environments where id = 'one/production'`,
    )
    works = { ...readsOf(rows[0].values), ...callsOf(auth, ask) }
    for (const work of Object.values(works)) for (let i = 0; i < 3; i += 1) await work()
    return Object.keys(works)
  },
  measure,
})

/** An administrator may ask less often than a benchmark does. Hits are counted as ever. */
function surfacesWithWideAdminLimit() {
  const rateLimits = { adminPerSession: { limit: 1_000_000, windowMs: 60_000 } }
  return {
    operator: { baseUrl: 'http://localhost:25999', rateLimits },
    client: { baseUrl: 'http://localhost:25998' },
  }
}

const sampleOf = {
  url: (slug) => `https://${slug}.example.test/path`,
  region: (slug) => `region-of-${slug}`,
  clientId: (slug) => `client-of-${slug}`,
  enabled: () => 'true',
  weight: () => '10',
  secret: () => randomBytes(24).toString('base64'),
}

const pathOf = ({ name }) => `/v1/admin/modules/${name}/environments/production`

/** A body holds 64 KiB, so each list has a request of its own. */
async function fill(ask, module) {
  for (const { key } of module.fields) {
    const config = Object.fromEntries(
      slugs.flatMap((slug) => [
        [`${key}.${slug}.__label`, `Element ${slug}`],
        ...items.map((item) => [`${key}.${slug}.${item.key}`, sampleOf[item.key](slug)]),
      ]),
    )
    const recordLists = [{ field: key, create: slugs, remove: [] }]
    await ask('PATCH', pathOf(module), { recordLists, config })
  }
}

/** Cold reads of the very same stored text. */
function readsOf(stored) {
  const json = JSON.stringify(stored)
  const box = secretBox([{ id: 'bench', key: configKey }], { bytes: (count) => randomBytes(count) })
  const place = { module: 'one', environment: 'production' }
  const isSecret = secretTest(one.fields)
  const { values, unreadable } = openValues(stored, isSecret, box, place)
  if (unreadable.length > 0) throw new Error('the secrets do not open')
  return {
    'floor, cold': floorOf(stored, values),
    'postern, cold': () => {
      const opened = openValues(JSON.parse(json), isSecret, box, place)
      return readModule(opened.values, one, () => {}).l0
    },
  }
}

/** Parses, groups, checks and decrypts, and does nothing else. */
function floorOf(stored, opened) {
  const key = createSecretKey(Buffer.from(configKey, 'base64'))
  const seal = (text) => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
  }
  const open = (text) => {
    const bytes = Buffer.from(text, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8')
  }
  const secrets = slugs.map((slug) => [`l0.${slug}.secret`, seal(opened[`l0.${slug}.secret`])])
  const json = JSON.stringify({ ...stored, ...Object.fromEntries(secrets) })
  const slugForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
  const names = items.map((item) => item.key)
  return () => {
    const flat = JSON.parse(json)
    return flat['l0.__items'].split(',').map((slug) => {
      const element = { slug, label: flat[`l0.${slug}.__label`] }
      if (!slugForm.test(slug) || !element.label) throw new Error('not an element')
      for (const name of names) {
        const value = flat[`l0.${slug}.${name}`]
        if (typeof value !== 'string' || value.length > 4096) throw new Error('not a value')
        element[name] = value
      }
      element.secret = open(element.secret)
      return element
    })
  }
}

function callsOf(auth, ask) {
  let turn = 0
  const patch = (module) => {
    turn += 1
    return ask('PATCH', pathOf(module), { config: { 'l0.element-7.region': `region-${turn}` } })
  }
  return {
    'cached read': () => auth.config.read(one),
    'PATCH of one key among 50': () => patch(one),
    'PATCH of one key among 1,000': () => patch(many),
    'GET of 50': () => ask('GET', pathOf(one)),
    'GET of 1,000': () => ask('GET', pathOf(many)),
  }
}

/** Microseconds of this process's CPU that one call takes, over so many milliseconds of calls. */
async function measure({ what, forMs }) {
  const work = works[what]
  const isAside = work().constructor.name === 'Promise'
  const until = performance.now() + forMs
  const before = process.cpuUsage()
  let calls = 0
  do {
    // One look at the clock for eight calls: some of them take less than that look.
    for (let call = 0; call < (forMs > 1 ? 8 : 1); call += 1) {
      if (isAside) await work()
      else work()
      calls += 1
    }
  } while (performance.now() < until)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}
