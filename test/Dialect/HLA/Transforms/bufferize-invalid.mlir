// RUN: hla-opt %s --hla-bufferize --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op expected one block (kernels have no control flow around them), but got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected result #1 to be a ranked tensor (it becomes an argument), but got 'index'}}
func.func @index(%x: tensor<4xf32>, %i: index) -> (tensor<4xf32>, index) {
  return %x, %i : tensor<4xf32>, index
}

// -----

// expected-error @+1 {{'func.func' op expected argument #1 to be ranked (kernels read it by stride), but got 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<4xf32>, %y: tensor<*xf32>) {
  return
}

// -----

// Its results become arguments, which a caller would not know.
// expected-error @+1 {{'func.func' op expected no call of a public function (its results become arguments), but got one of 'callee'}}
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Operators and scans are loops by then.
func.func @scan(%q: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  // expected-error @+1 {{op was not bufferized}}
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return %y : tensor<?x?x?x8xf32>
}
