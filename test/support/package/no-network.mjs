// Loaded before anything else of a process: it reaches this machine alone, and what it tried beyond is written down.
import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'

const local = ['localhost', '127.0.0.1', '::1', '0.0.0.0', '::']
const connect = Socket.prototype.connect

Socket.prototype.connect = function (...given) {
  const [first] = given.flat()
  const host = typeof first === 'object' ? (first.path ? 'localhost' : first.host) : 'localhost'
  if (host !== undefined && !local.includes(host)) {
    appendFileSync(process.env['NETWORK_LOG'], `${host}\n`)
    throw new Error(`no network: ${host}`)
  }
  return connect.apply(this, given)
}
