import type { AuthOptions } from '../options.js'
import type { Finding } from '../ports/inspection.js'
import { isLocal } from './is-local.js'

/** More proxies than stand in front of a host: a CDN, a load balancer, an ingress, a sidecar, and one to spare. */
const mostHops = 5
/** A network of this many bits has sixteen million addresses; 10.0.0.0/8 is one. */
const fewestBits = { 4: 8, 6: 32 }

type Given = Pick<AuthOptions, 'trustProxy' | 'surfaces'>

/** Whose `X-Forwarded-For` counts: too few make all callers one, and too many let a caller choose its address. */
export function proxyFindings({ trustProxy = false, surfaces }: Given): readonly Finding[] {
  const check = 'proxy'
  if (trustProxy === false || trustProxy === 0) {
    const urls = Object.values(surfaces).map(({ baseUrl }) => new URL(baseUrl))
    if (!urls.some((url) => url.protocol === 'https:' && !isLocal(url.hostname))) return []
    return [
      {
        check,
        problem:
          'trustProxy is false, and the surfaces are reached by https. Where a proxy ends TLS, every request has the address of the proxy: all callers share the limits of one.',
        remedy:
          'Set trustProxy to the number of your proxies, or to their networks. Where this process ends TLS itself, accept the finding.',
      },
    ]
  }
  if (typeof trustProxy === 'number') {
    if (trustProxy <= mostHops) return []
    const problem = `trustProxy believes ${trustProxy} proxies. With more than there are, a caller chooses its own address by X-Forwarded-For.`
    return [{ check, problem, remedy: 'Set trustProxy to the number of proxies that there are.' }]
  }
  return trustProxy.filter(isWide).map((network) => ({
    check,
    problem: `trustProxy believes the whole network ${network}: each machine in it chooses the address that it is taken for.`,
    remedy: 'Name the networks of your proxies alone, such as 10.0.3.0/24.',
  }))
}

function isWide(network: string): boolean {
  const [address = '', prefix] = network.split('/')
  const fewest = address.includes(':') ? fewestBits[6] : fewestBits[4]
  return prefix !== undefined && Number(prefix) < fewest
}
