interface Place {
  readonly file: string
  /** Text of the file that a defective one has in other words. */
  readonly good: string
  readonly bad: string
}

/** A defect of the past, as a change of a file, and the seed of a network that shows it. */
interface Defect extends Place {
  readonly what: string
  /** A second place, where the product is protected twice. */
  readonly also?: Place
  readonly seed: number
  readonly steps: number
  /** The words of the oracle begin with this. */
  readonly oracle: string
}

/** Defects that this product had, or that an oracle is there for, each with a seed that finds it. */
export const DEFECTS: readonly Defect[] = [
  {
    what: 'a router that connects while the storage is away leaves a timer',
    file: 'adapters/network/fabric/control-listener.ts',
    good: '      group.close()\n      throw error',
    bad: '      throw error',
    ...{ seed: 15, steps: 60, oracle: 'leftover' },
  },
  {
    what: 'a router that comes back at another process is not told which circuits ended while it was away',
    file: 'src/fabric/processes/relayed-routers.ts',
    good: '    ends.settle(router)\n',
    bad: '',
    ...{ seed: 182, steps: 60, oracle: 'access' },
  },
  {
    what: 'changes of service policies leave no audit record',
    file: 'src/audit/audited-changes.ts',
    good: '=== enrollments.name)) return changed',
    bad: "=== enrollments.name)) return changed.some(({ kind }) => kind === 'service-policies') ? [] : changed",
    ...{ seed: 1, steps: 30, oracle: 'audit' },
  },
  {
    what: 'an event that a receiver refused counts as delivered',
    file: 'src/webhooks/event-delivery.ts',
    good: "    if (outcome !== 'put-aside' && outcome.isDelivered) {",
    bad: "    if (outcome !== 'put-aside') {",
    ...{ seed: 23, steps: 40, oracle: 'events' },
  },
  {
    what: 'an explanation does not look whether the identity is disabled',
    file: 'src/facts/access/explain/explain-access.rules.ts',
    good: "const allowed = decision.verdict === 'allowed'",
    bad: "const allowed = decision.verdict === 'allowed' || identity?.isDisabled === true",
    ...{ seed: 7, steps: 30, oracle: 'explain' },
  },
  {
    what: 'a change of keys ends the certificates of before at once',
    file: 'src/pki/key-rotation.ts',
    good: 'endFormer(tx, before, next.id, keepUntil, now)',
    bad: 'endFormer(tx, before, next.id, now, now)',
    ...{ seed: 2, steps: 30, oracle: 'enroll' },
  },
  {
    what: 'a grant goes on past its end while the storage takes no changes',
    file: 'src/access/access-feed.ts',
    good: '    await this.#endDue()\n',
    bad: '',
    ...{ seed: 3, steps: 40, oracle: 'term' },
  },
  {
    what: 'a request for access is decided again',
    file: 'src/access/access-requests.ts',
    good: "    if (state === 'open') return request",
    bad: "    if (state !== 'withdrawn') return request",
    ...{ seed: 4, steps: 40, oracle: 'requests' },
  },
  {
    what: 'an event overtakes an earlier one of its entity, which waits',
    file: 'src/webhooks/delivery-work.ts',
    good: 'const fresh = wanted.filter((record) => !blocked.has(subjectOf(record)))',
    bad: 'const fresh = wanted',
    ...{ seed: 15, steps: 40, oracle: 'events' },
  },
  {
    what: 'a seal of several records holds the digest of a neighbour',
    file: 'src/audit/audit-sealing.ts',
    good: "digest: sha256(texts[at] ?? '')",
    bad: "digest: sha256(texts[Math.max(0, at - 1)] ?? '')",
    ...{ seed: 1, steps: 60, oracle: 'audit' },
  },
  {
    what: 'a change of the directory that could not be written is forgotten',
    file: 'src/identities/directory-changes.ts',
    good: '    if (isFollowed) return\n',
    bad: '    if (isFollowed || !isFollowed) return\n',
    ...{ seed: 195, steps: 40, oracle: 'explain' },
  },
  {
    what: 'a grant of a role attribute goes on past its end while the storage takes no changes',
    file: 'src/access/access-feed.ts',
    good: '      this.#endNextOf(record, this.#terms.now())\n',
    bad: '',
    ...{ seed: 308, steps: 40, oracle: 'term' },
  },
  {
    what: 'nobody writes that a grant of a role attribute begins or ends',
    file: 'src/identities/attribute-grants.ts',
    good: 'if (due.ids.length === 0) return due.next',
    bad: 'if (due.ids.length >= 0) return due.next',
    ...{ seed: 22, steps: 40, oracle: 'explain' },
  },
  {
    what: 'role attributes by claims outlive the last login by the signer',
    file: 'src/login/api-session-ends.ts',
    good: 'limit: 1 })).length > 0) continue',
    bad: 'limit: 1 })).length >= 0) continue',
    ...{ seed: 25, steps: 40, oracle: 'term' },
  },
  {
    what: 'a process that connects while others are asked counts as asked, and its circuits as those of nobody',
    file: 'src/fabric/processes/relays.ts',
    good: '    if (!forgets || !areAllAsked || this.#parts.context.clock.now() < this.#unsureUntil) return',
    bad: '    if (!forgets || !this.#isEveryOther([...this.#processes])) return',
    ...{ seed: 467, steps: 40, oracle: 'circuits' },
  },
  {
    what: 'a circuit that leaves one router while others are asked is forgotten at the rest',
    file: 'src/fabric/processes/circuit-owners.ts',
    good: 'isSure && unknown.has(id) && !claimed.has(id)',
    bad: 'isSure',
    ...{ seed: 335, steps: 40, oracle: 'circuits' },
  },
  {
    what: 'a circuit in the making is forgotten at the rest of its routers when one of them speaks of it',
    file: 'src/fabric/circuits/circuit-messages.ts',
    good: 'if (!exchange.isAt(this.#router.id, circuitId)) ends',
    bad: 'if (exchange !== undefined) ends',
    ...{ seed: 116, steps: 40, oracle: 'circuits' },
  },
  {
    what: 'a process that is gone goes on to own circuits, and its routers never forget them',
    file: 'src/fabric/processes/circuit-owners.ts',
    good: '    this.#laid.delete(process)\n',
    bad: '',
    ...{ seed: 48, steps: 40, oracle: 'circuits' },
  },
  {
    what: 'a process that ended just after it disabled a signer leaves the role attributes of its claims',
    file: 'src/controller/create-controller.ts',
    good: "  timetable.notLater('withdrawn', 'every API session', contextOf(engine).clock.now())\n",
    bad: '',
    ...{ seed: 623, steps: 40, oracle: 'claims' },
  },
  {
    what: 'events that were delivered while the storage took no changes are sent again and again',
    file: 'src/webhooks/event-delivery.ts',
    good: 'they are not delivered again.\n    await this.#settle()\n',
    bad: 'they are not delivered again.\n    this.#unsettled = undefined\n',
    ...{ seed: 1, steps: 40, oracle: 'events' },
  },
  {
    what: 'the other ends of the links of a disabled router keep them',
    file: 'src/fabric/circuits/link-reports.ts',
    good: 'changes: [removed(routerId)] })\n      this.#close(otherEnd, link)\n',
    bad: 'changes: [removed(routerId)] })\n',
    ...{ seed: 10, steps: 40, oracle: 'links' },
  },
  {
    what: 'routers are not told of changes of the model that came before they subscribed again',
    file: 'src/fabric/model/model-subscriptions.ts',
    good: '      if (!this.#isLevel(subscription)) continue\n      this.#lead',
    bad: '      if (!this.#isLevel(subscription) || this.#context.clock.now() > subscription.waitsUntil) continue\n      this.#lead',
    ...{ seed: 10, steps: 40, oracle: 'model' },
  },
  {
    what: 'routers are not told of what other processes write',
    file: 'src/fabric/fabric.ts',
    good: '    await this.#follower.look()\n',
    bad: '',
    ...{ seed: 8, steps: 40, oracle: 'model' },
  },
  {
    what: 'a router that connects keeps sessions that ended while it was away',
    file: 'src/fabric/announced-sessions.ts',
    good: 'const known = [...read.filter(({ id }) => !this.#gone.has(id)), this.#mark(asOf)]',
    bad: 'const known = asOf < 0 ? [this.#mark(asOf)] : read.filter(({ id }) => !this.#gone.has(id))',
    ...{ seed: 189, steps: 40, oracle: 'sessions' },
  },
  {
    what: 'a router removes the terminators of another one',
    file: 'src/fabric/hosted-terminators.ts',
    good: 'if (known.routerId === routerId) await tx',
    bad: 'if (known !== undefined) await tx',
    ...{ seed: 75, steps: 40, oracle: 'addresses' },
  },
  {
    what: 'a process does not shut out a router that another process disabled',
    file: 'src/fabric/change-follower.ts',
    good: "    if (isShutOut) shutOut(parts, id, terms === undefined ? 'router-deleted' : 'router-shut-out')\n",
    bad: '    if (isShutOut) void 0\n',
    ...{ seed: 282, steps: 40, oracle: 'shut out' },
  },
  {
    what: 'a quiet circuit is forgotten while its process is about to connect again',
    file: 'src/fabric/processes/relays.ts',
    good: ' || this.#parts.context.clock.now() < this.#unsureUntil) return',
    bad: ') return',
    ...{ seed: 1097, steps: 40, oracle: 'circuits' },
  },
  {
    what: 'a process without routers stands in for a process that is cut off, and quiet circuits are forgotten',
    file: 'src/fabric/processes/relays.ts',
    good: 'return this.#others?.every((other) => processes.some(({ address }) => address === other)) === true',
    bad: 'return processes.length >= (this.#others?.length ?? Number.POSITIVE_INFINITY)',
    ...{ seed: 1038, steps: 40, oracle: 'circuits' },
  },
  {
    what: 'circuits of a process that holds no router any more are hidden from other processes',
    file: 'src/routers/connection-records.ts',
    good: 'connected.length > 0 || this.#own.hasCircuits()',
    bad: 'connected.length > 0',
    ...{ seed: 403, steps: 40, oracle: 'circuits' },
  },
  {
    what: 'a router that another process disables while it is being admitted stays',
    file: 'src/routers/router-watch.ts',
    good: 'for (const [id, facts] of routers) this.#connected.judge(id, facts)',
    bad: 'for (const [id, facts] of routers) if (facts === undefined) this.#connected.judge(id, facts)',
    ...{ seed: 219, steps: 40, oracle: 'shut out' },
  },
  {
    what: 'a session that begins while a router is told of all sessions is forgotten with the list',
    file: 'src/fabric/announced-sessions.ts',
    good: '      if (telling === undefined) router.channel.send(news)\n      else telling.held.push(news)',
    bad: '      if (telling !== null) router.channel.send(news)',
    ...{ seed: 120, steps: 40, oracle: 'sessions' },
  },
  {
    what: 'a router that comes from another process is put out by the end of its way by that one',
    file: 'src/fabric/channels/connected-routers.ts',
    good: '    if (this.#held.get(id) === router) return this.#held.delete(id)',
    bad: '    if (this.#held.has(id)) return this.#held.delete(id)',
    ...{ seed: 36, steps: 40, oracle: 'model' },
  },
  {
    what: 'a late end of a former channel puts out the router that has come back',
    file: 'src/fabric/channels/connected-routers.ts',
    good: '    if (this.#held.get(id) === router) return this.#held.delete(id)',
    bad: '    if (this.#held.has(id)) return this.#held.delete(id)',
    // Channels of routers end at once.
    also: {
      file: 'adapters/network/fabric/router-group.ts',
      good: '    this.#onClosed()\n    this.#session?.closed()\n',
      bad: '    this.#onClosed()\n    runtime.timer(50, () => this.#session?.closed())\n',
    },
    ...{ seed: 1, steps: 40, oracle: 'enroll' },
  },
  {
    what: 'a router takes the pieces in which a model arrives for the parts that the controller sent',
    file: 'adapters/network/fabric/messages/rows-to-router.ts',
    good: '  decode(bytes) {\n    const { endIndex: index, timelineId } = StateFacts.decode(bytes)\n    return { index, timelineId, events: [bytes] }',
    bad: '  decode(bytes, events) {\n    const { endIndex: index, timelineId } = StateFacts.decode(bytes)\n    return { index, timelineId, events }',
    also: {
      file: 'adapters/network/fabric/messages/message-row.ts',
      good: 'body.decode(bodyOf(frame))',
      bad: 'body.decode(bodyOf(frame), frame.body)',
    },
    ...{ seed: 11, steps: 40, oracle: 'model' },
  },
  {
    what: 'a router whose hello arrives in several pieces is let in no more',
    file: 'adapters/network/fabric/hello.ts',
    good: 'textIn({ body })',
    bad: 'textIn({ body: body.slice(0, 1) })',
    ...{ seed: 1050, steps: 40, oracle: 'enroll' },
  },
  {
    what: 'a router that another process disables and enables at once is no way of that process any more',
    file: 'src/fabric/change-follower.ts',
    good: '    else if (routers.get(id) === undefined) relayed.reconsider(id)\n',
    bad: '',
    ...{ seed: 701040, steps: 40, oracle: 'links' },
  },
  {
    what: 'a process takes what the former process of a router says late of its links',
    file: 'src/fabric/processes/relayed-routers.ts',
    good: 'if (IS_OF_LINKS.has(message.type) && ',
    bad: 'if (message.type === undefined && ',
    ...{ seed: 710826, steps: 60, oracle: 'links' },
  },
  {
    what: 'a router does not dial a link again that it lost',
    file: 'adapters/network/router/links/links.ts',
    good: 'iteration })\n    this.#dialer.dial(peerId)\n',
    bad: 'iteration })\n',
    ...{ seed: 64, steps: 40, oracle: 'links' },
  },
  {
    what: 'a router forgets the second link of a place with the first, which a killed router left, and dials a third',
    file: 'adapters/network/router/links/links.ts',
    good: 'if (other === undefined) this.#byKey.delete(key)',
    bad: 'if (key !== undefined) this.#byKey.delete(key)',
    ...{ seed: 2024, steps: 60, oracle: 'links' },
  },
  {
    what: 'a router dials a controller that it lost no more',
    file: 'adapters/network/router/control/control-connections.ts',
    good: "log?.('controller.lost', { address, controllerId: channel.id })\n        this.#retry(address, place)\n",
    bad: "log?.('controller.lost', { address, controllerId: channel.id })\n",
    ...{ seed: 5, steps: 40, oracle: 'own router' },
  },
  {
    what: 'a router keeps the sessions that the whole list of a controller leaves out',
    file: 'adapters/network/router/state/router-sessions.ts',
    good: '      this.#forget(token)\n      ended.add(id)\n',
    bad: '      ended.add(id)\n',
    ...{ seed: 24, steps: 40, oracle: 'sessions' },
  },
]
