import type { AnswerOf, PortcullisApi } from '../../../../src/client/index.ts'

/** A graph as the controller answers it. */
export type GraphAnswer = AnswerOf<PortcullisApi['GET /graph']>['data']

/** Entities that are drawn as one. */
export type Group = GraphAnswer['groups'][number]

/** The kind of the members of a group. */
export type GroupKind = Group['kind']

export type GraphPolicy = GraphAnswer['policies'][number]
export type LinkType = GraphAnswer['links'][number]['type']
