import { contentLies } from './content-lies.fixture.js'
import { deliveryLies } from './delivery-lies.fixture.js'
import { disconnectionLies } from './disconnection-lies.fixture.js'
import { failingHandlerLies } from './failing-handler-lies.fixture.js'
import { garbageAndClosingLies } from './garbage-and-closing-lies.fixture.js'
import type { Lie } from './lie.fixture.js'
import { subscriptionLies } from './subscription-lies.fixture.js'
import { topicLies } from './topic-lies.fixture.js'

export const lies: readonly Lie[] = [
  ...deliveryLies,
  ...topicLies,
  ...contentLies,
  ...subscriptionLies,
  ...failingHandlerLies,
  ...disconnectionLies,
  ...garbageAndClosingLies,
]
