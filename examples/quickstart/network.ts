import { readFile } from 'node:fs/promises'
import type { ManagementApi, RequestOf } from 'portcullis/client'
import { parse } from 'yaml'

type Body<R extends keyof ManagementApi & string> = RequestOf<ManagementApi[R]>['body']

/** The model of a network: the bodies of create requests, with `@name` where the API takes `@id`. */
export interface Network {
  readonly identities: readonly Body<'POST /identities'>[]
  readonly services: readonly Body<'POST /services'>[]
  readonly edgeRouters: readonly Body<'POST /edge-routers'>[]
  readonly postureChecks: readonly Body<'POST /posture-checks'>[]
  readonly servicePolicies: readonly Body<'POST /service-policies'>[]
  readonly edgeRouterPolicies: readonly Body<'POST /edge-router-policies'>[]
  readonly serviceEdgeRouterPolicies: readonly Body<'POST /service-edge-router-policies'>[]
}

/** Reads `network.yaml`. What is wrong in it, the controller says when it is asked to create it. */
export async function readNetwork(): Promise<Network> {
  return parse(await readFile(new URL('network.yaml', import.meta.url), 'utf8'))
}
